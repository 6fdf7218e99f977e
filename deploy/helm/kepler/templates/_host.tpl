{{/*
The directories of the host's /sys and /proc that the agent reads, where the configuration expects them. A container's own
/sys is not enough: runtimes hide the energy counters in it (except from a privileged container), and its cgroups may begin at
the container's. /sys as a whole is not mounted: submounts of a read-only bind mount stay writable, and cgroups are submounts of /sys.
*/}}
{{- define "kepler.hostPaths" -}}
{{- $taken := dict "/sys/" "the container's own" "/proc/" "the container's own" "/dev/" "the container's own" "/etc/kepler/" "the configuration" "/etc/kepler-web/" "the web file" "/etc/kepler-models/" "the models" "/etc/kepler-model-server/" "the login at the model server" -}}
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
{{- $directories := list "" }}
{{- if eq $name "sysfs" }}
{{- /* class: names of meters, links into devices. devices: meters, sensors, processors. */}}
{{- $directories = list "/class" "/devices" }}
{{- range default (list "") $.cgroupV1Hierarchies }}
{{- $directories = append $directories (printf "/fs/cgroup/%s" . | clean) }}
{{- end }}
{{- end }}
{{- range $directory := $directories }}
- name: {{ printf "host%s%s" $own $directory | replace "/" "-" | replace "," "-" | replace "_" "-" | trunc 63 | trimSuffix "-" | quote }}
  own: {{ printf "%s%s" $own $directory | quote }}
  path: {{ printf "%s%s" $path $directory | quote }}
{{- end }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Argument: list of the context and config.host. */}}
{{- define "kepler.hostMounts" -}}
{{- $d := (index . 0).Values.daemonset -}}
{{- $recursive := and $d.recursiveReadOnly (semverCompare ">=1.31.0-0" (index . 0).Capabilities.KubeVersion.Version) -}}
{{- range include "kepler.hostPaths" (dict "host" (index . 1) "cgroupV1Hierarchies" $d.cgroupV1Hierarchies) | fromYamlArray }}
- name: {{ .name | quote }}
  mountPath: {{ .path | quote }}
  readOnly: true
  {{- if $recursive }}
  recursiveReadOnly: {{ $d.recursiveReadOnly | quote }}
  {{- end }}
{{- end -}}
{{- end -}}

{{/* Argument: list of the context and config.host. */}}
{{- define "kepler.hostVolumes" -}}
{{- $d := (index . 0).Values.daemonset -}}
{{- range include "kepler.hostPaths" (dict "host" (index . 1) "cgroupV1Hierarchies" $d.cgroupV1Hierarchies) | fromYamlArray }}
- name: {{ .name | quote }}
  hostPath:
    path: {{ .own | quote }}
    type: Directory
{{- end -}}
{{- end -}}
