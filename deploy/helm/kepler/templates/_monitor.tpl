{{/* Endpoint of a ServiceMonitor or PodMonitor. Argument: list of the context and the monitor's values. */}}
{{- define "kepler.endpoint" -}}
{{- $root := index . 0 -}}
{{- $monitor := index . 1 -}}
port: {{ $monitor.port | quote }}
path: {{ $monitor.path | quote }}
scheme: {{ default (include "kepler.scheme" $root) $monitor.scheme | quote }}
interval: {{ $monitor.interval | quote }}
{{- with $monitor.scrapeTimeout }}
scrapeTimeout: {{ . | quote }}
{{- end }}
honorLabels: {{ default false $monitor.honorLabels }}
{{- with $monitor.relabelings }}
relabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $monitor.metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $monitor.tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $monitor.basicAuth }}
basicAuth:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $monitor.authorization }}
authorization:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $monitor.oauth2 }}
oauth2:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $monitor.bearerTokenFile }}
bearerTokenFile: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* Milliseconds of a Prometheus duration. */}}
{{- define "kepler.milliseconds" -}}
{{- $units := dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000 "w" 604800000 "y" 31536000000 -}}
{{- $sum := 0 -}}
{{- range regexFindAll "[0-9]+(ms|[smhdwy])" . -1 -}}
{{- $sum = add $sum (mul (regexFind "^[0-9]+" . | int64) (get $units (regexFind "[a-z]+$" .) | int64)) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}

{{/* Spec of a monitor without its endpoints. */}}
{{- define "kepler.monitorSpec" -}}
{{- $root := index . 0 -}}
{{- $monitor := index . 1 -}}
{{- if and $root.Values.serviceMonitor.enabled $root.Values.podMonitor.enabled -}}
{{- fail "serviceMonitor and podMonitor: each series would be scraped twice; enable one of the two" -}}
{{- end -}}
{{- if and $root.Values.serviceMonitor.enabled (not $root.Values.service.enabled) -}}
{{- fail "serviceMonitor needs service.enabled: set it, or enable podMonitor instead" -}}
{{- end -}}
{{- $interval := include "kepler.milliseconds" $monitor.interval | int64 -}}
{{- $timeout := include "kepler.milliseconds" (default "" $monitor.scrapeTimeout) | int64 -}}
{{- if and $interval (gt $timeout $interval) -}}
{{- fail (printf "scrapeTimeout: %s is longer than the interval, %s: the Prometheus operator rejects such a monitor" $monitor.scrapeTimeout $monitor.interval) -}}
{{- end -}}
{{- $credentials := list -}}
{{- range $name := list "basicAuth" "authorization" "oauth2" "bearerTokenFile" -}}
{{- if get $monitor $name -}}{{- $credentials = append $credentials $name -}}{{- end -}}
{{- end -}}
{{- if gt (len $credentials) 1 -}}
{{- fail (printf "%s: Prometheus sends one kind of credentials; set one of these" (join ", " $credentials)) -}}
{{- end -}}
jobLabel: {{ $monitor.jobLabel | quote }}
{{- with $monitor.podTargetLabels }}
podTargetLabels:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $monitor.sampleLimit }}
sampleLimit: {{ int64 . }}
{{- end }}
namespaceSelector:
  matchNames: [{{ include "kepler.namespace" $root | quote }}]
selector:
  matchLabels:
    {{- include "kepler.selectorLabels" $root | nindent 4 }}
{{- end -}}
