{{/*
Rights and configuration of each profile, as YAML. docs/deploy-kubernetes.md gives the reason for each line.
  hostPID            whether the pod shares the node's PID namespace; without it BPF shows only a part of the tasks
  config             of the agent
  securityContext    of the container
*/}}
{{- define "kepler.profile.exact" -}}
hostPID: true
config:
  host:
    sysfs: /host/sys
securityContext:
  privileged: false
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: false
  runAsUser: 0
  runAsGroup: 0
  capabilities:
    drop: [ALL]
    add: [BPF, PERFMON]
{{- end -}}

{{- define "kepler.profile.proc" -}}
hostPID: false
config:
  host:
    sysfs: /host/sys
    procfs: /host/proc
  activity:
    source: procfs
securityContext:
  privileged: false
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: false
  runAsUser: 0
  runAsGroup: 0
  capabilities:
    drop: [ALL]
{{- end -}}

{{- define "kepler.profile.nonRoot" -}}
hostPID: true
config:
  host:
    sysfs: /host/sys
securityContext:
  privileged: false
  allowPrivilegeEscalation: true
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  capabilities:
    drop: [ALL]
    add: [BPF, PERFMON, DAC_READ_SEARCH]
{{- end -}}

{{- define "kepler.profile.privileged" -}}
hostPID: true
config:
  host:
    sysfs: /host/sys
securityContext:
  privileged: true
  readOnlyRootFilesystem: true
  runAsNonRoot: false
  runAsUser: 0
  runAsGroup: 0
{{- end -}}

{{/* Values for Kepler 0.11's chart have privileged: true. The API server refuses that together with other limits. */}}
{{- define "kepler.profileName" -}}
{{- ternary "privileged" .Values.profile (eq (toString (get (default dict .Values.daemonset.securityContext) "privileged")) "true") -}}
{{- end -}}

{{/* The profile, with the values merged over it. */}}
{{- define "kepler.profile" -}}
{{- $over := default dict .Values.daemonset.securityContext -}}
{{- $profile := include (printf "kepler.profile.%s" (include "kepler.profileName" .)) . | fromYaml -}}
{{- $security := $profile.securityContext -}}
{{- $more := concat (default list .Values.daemonset.extraCapabilities) (ternary (list "SYS_PTRACE" "DAC_READ_SEARCH") list (default false .Values.processNames)) -}}
{{- if and $more (not $security.privileged) -}}
{{- $add := concat (default list $security.capabilities.add) $more | uniq -}}
{{- $_ := set $security.capabilities "add" $add -}}
{{- end -}}
{{- $given := default dict $over.capabilities -}}
{{- if hasKey $given "add" -}}
{{- range default list (default dict $security.capabilities).add -}}
{{- if not (has . (default list $given.add)) -}}
{{- fail (printf "daemonset.securityContext.capabilities.add replaces the profile's list, and %s is not in it: set daemonset.extraCapabilities, which adds to it" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $_ := set $profile "securityContext" (mergeOverwrite $security (deepCopy $over)) -}}
{{- if not (kindIs "invalid" .Values.daemonset.hostPID) -}}
{{- $_ := set $profile "hostPID" .Values.daemonset.hostPID -}}
{{- end -}}
{{- toYaml $profile -}}
{{- end -}}

{{/* The agent's configuration: the profile's, with the values and the path of the web file merged over it. */}}
{{- define "kepler.config" -}}
{{- $config := (include "kepler.profile" . | fromYaml).config -}}
{{- /* Alerts need the agent's own CPU time and memory. */ -}}
{{- $_ := set $config "exporter" (dict "prometheus" (dict "debugCollectors" (list "process"))) -}}
{{- /* The agent's own default asks for kubelets that accept the cluster's tokens and show certificates of its CA. */ -}}
{{- $_ := set $config "kube" (dict "podInformer" (dict "mode" "auto")) -}}
{{- $values := default dict .Values.config -}}
{{- $given := omit (deepCopy $values) "kube" -}}
{{- with $values.kube -}}
{{- with omit . "enabled" "nodeName" -}}{{- $_ := set $given "kube" . -}}{{- end -}}
{{- end -}}
{{- $config = mergeOverwrite $config $given -}}
{{- /* Last: "configFile: \"\"", as values for Kepler 0.11 have it, must not turn TLS and passwords off. */ -}}
{{- $web := default dict $config.web -}}
{{- if and .Values.web.secretName (not $web.configFile) -}}
{{- $web = set $web "configFile" (printf "/etc/kepler-web/%s" .Values.web.key) -}}
{{- $_ := set $config "web" $web -}}
{{- end -}}
{{- if and (or .Values.web.tls .Values.web.authenticated) (not $web.configFile) -}}
{{- fail "web.tls and web.authenticated describe a web configuration file: set web.secretName or config.web.configFile" -}}
{{- end -}}
{{- if and $web.configFile (not .Values.web.tls) (not .Values.web.authenticated) -}}
{{- fail (printf "%s: set web.tls, web.authenticated or both as the file requires: probes and monitors depend on it" (ternary "web.secretName" "config.web.configFile" (not (empty .Values.web.secretName)))) -}}
{{- end -}}
{{- $models := default dict .Values.models -}}
{{- $places := list -}}
{{- if $models.configMap -}}{{- $places = append $places "/etc/kepler-models/config-map" -}}{{- end -}}
{{- if $models.persistentVolumeClaim -}}{{- $places = append $places "/etc/kepler-models/volume" -}}{{- end -}}
{{- with concat $places (default list $models.urls) -}}
{{- $model := default dict $config.model -}}
{{- $_ := set $config "model" (set $model "sources" (concat . (default list $model.sources))) -}}
{{- end -}}
{{- if (default dict .Values.modelServer).enabled -}}
{{- $model := dict "server" (include "kepler.modelServerUrl" .) -}}
{{- with .Values.modelServer.agents.user -}}
{{- $_ := set $model "serverUser" . -}}
{{- $_ := set $model "serverPasswordFile" (printf "/etc/kepler-model-server/%s" $.Values.modelServer.agents.passwordKey) -}}
{{- end -}}
{{- $_ := set $config "model" (merge (default dict $config.model) $model) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* The port of the first address that the agent serves on. */}}
{{- define "kepler.port" -}}
{{- $web := default dict (include "kepler.config" . | fromYaml).web -}}
{{- $addresses := default (list ":28282") $web.listenAddresses -}}
{{- regexFind "[0-9]+$" (first $addresses) -}}
{{- end -}}

{{- define "kepler.scheme" -}}
{{- ternary "https" "http" (default false .Values.web.tls) -}}
{{- end -}}

{{- define "kepler.informerMode" -}}
{{- $kube := (include "kepler.config" . | fromYaml).kube -}}
{{- $kube.podInformer.mode -}}
{{- end -}}

{{/* A probe of the values, with the scheme of web.tls. With web.authenticated it only checks the port. */}}
{{- define "kepler.probe" -}}
{{- $root := index . 0 -}}
{{- $probe := deepCopy (index . 1) -}}
{{- if $probe.httpGet -}}
{{- if and $root.Values.web.authenticated (not $probe.httpGet.httpHeaders) -}}
{{- $probe = set (omit $probe "httpGet") "tcpSocket" (dict "port" $probe.httpGet.port) -}}
{{- else if and $root.Values.web.tls (not $probe.httpGet.scheme) -}}
{{- $_ := set $probe.httpGet "scheme" "HTTPS" -}}
{{- end -}}
{{- end -}}
{{- toYaml $probe -}}
{{- end -}}
