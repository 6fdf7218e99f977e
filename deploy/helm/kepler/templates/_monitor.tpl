{{/* An endpoint of a ServiceMonitor or PodMonitor: a list of the context and the monitor's values. */}}
{{- define "kepler.endpoint" -}}
{{- $root := index . 0 -}}
{{- $monitor := index . 1 -}}
port: http
path: {{ $monitor.path }}
scheme: {{ default (include "kepler.scheme" $root) $monitor.scheme }}
interval: {{ $monitor.interval }}
{{- with $monitor.scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
honorLabels: {{ $monitor.honorLabels }}
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
{{- with $monitor.bearerTokenFile }}
bearerTokenFile: {{ . }}
{{- end }}
{{- end -}}

{{/* All of a monitor but its kind and endpoints. */}}
{{- define "kepler.monitorSpec" -}}
{{- $root := index . 0 -}}
{{- $monitor := index . 1 -}}
jobLabel: {{ $monitor.jobLabel }}
{{- with $monitor.sampleLimit }}
sampleLimit: {{ . }}
{{- end }}
namespaceSelector:
  matchNames: [{{ include "kepler.namespace" $root }}]
selector:
  matchLabels:
    {{- include "kepler.selectorLabels" $root | nindent 4 }}
{{- end -}}
