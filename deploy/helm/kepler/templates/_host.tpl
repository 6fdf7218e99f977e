{{/*
The host's /sys and /proc, where the configuration looks for them elsewhere than in the container's own. Needed for /sys:
in a container's own, runtimes hide the energy counters (but from a privileged one), and its cgroups may begin at the container's.
*/}}
{{- define "kepler.hostPaths" -}}
{{- $taken := dict "/sys/" "the container's own" "/proc/" "the container's own" "/dev/" "the container's own" "/etc/kepler/" "the configuration" "/etc/kepler-web/" "the web file" -}}
{{- range $name, $own := dict "sysfs" "/sys" "procfs" "/proc" -}}
{{- $path := default $own (get $.host $name) | clean -}}
{{- if ne $path $own }}
{{- $below := printf "%s/" (trimSuffix "/" $path) }}
{{- range $other, $what := $taken }}
{{- if or (hasPrefix $other $below) (hasPrefix $below $other) }}
{{- fail (printf "config.host.%s: %s: the host's %s cannot be mounted there: %s is %s" $name $path $own (trimSuffix "/" $other) $what) }}
{{- end }}
{{- end }}
{{- $_ := set $taken $below (printf "where the host's %s is" $own) }}
- name: host-{{ $own | trimPrefix "/" }}
  own: {{ $own | quote }}
  path: {{ $path | quote }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "kepler.hostMounts" -}}
{{- $root := index . 0 -}}
{{- range include "kepler.hostPaths" (dict "host" (index . 1)) | fromYamlArray }}
- name: {{ .name | quote }}
  mountPath: {{ .path | quote }}
  readOnly: true
  {{- if and $root.Values.daemonset.recursiveReadOnly (semverCompare ">=1.31.0-0" $root.Capabilities.KubeVersion.Version) }}
  recursiveReadOnly: {{ $root.Values.daemonset.recursiveReadOnly | quote }}
  {{- end }}
{{- end -}}
{{- end -}}

{{- define "kepler.hostVolumes" -}}
{{- range include "kepler.hostPaths" (dict "host" (index . 1)) | fromYamlArray }}
- name: {{ .name | quote }}
  hostPath:
    path: {{ .own | quote }}
    type: Directory
{{- end -}}
{{- end -}}
