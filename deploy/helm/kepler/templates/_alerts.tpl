{{/* Bytes of a Kubernetes quantity, such as 512Mi or 1.5G. */}}
{{- define "kepler.bytes" -}}
{{- $text := toString . -}}
{{- if kindIs "float64" . -}}
{{- $text = int64 . | toString -}}
{{- end -}}
{{- $number := regexFind "^[0-9.]+([eE][-+]?[0-9]+)?" $text -}}
{{- $factors := dict "n" 1e-9 "u" 1e-6 "m" 1e-3 "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 -}}
{{- range $power, $prefix := list "Ki" "Mi" "Gi" "Ti" "Pi" "Ei" -}}
{{- $bytes := 1 -}}
{{- range until (add1 $power | int) -}}{{- $bytes = mul $bytes 1024 -}}{{- end -}}
{{- $_ := set $factors $prefix $bytes -}}
{{- end -}}
{{- mulf $number (get $factors (trimPrefix $number $text)) | int64 -}}
{{- end -}}

{{/* Expressions of the alerts whose thresholds are values of this chart: a mapping from the alert, in YAML. */}}
{{- define "kepler.alertExpressions" -}}
{{- $monitor := ternary .Values.serviceMonitor .Values.podMonitor (default false .Values.serviceMonitor.enabled) -}}
{{- with $monitor.sampleLimit }}
KeplerSeriesNearLimit: kepler_exposed_series > 0.8 * {{ int64 . }}
{{- end }}
{{- with (default dict (default dict .Values.daemonset.resources).limits).memory }}
KeplerMemoryHigh: process_resident_memory_bytes > 0.8 * {{ include "kepler.bytes" . }} and on (job, instance) kepler_build_info
{{- end }}
{{- end -}}
