{{- define "postrider.labels" -}}
app.kubernetes.io/name: postrider
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "postrider.selector" -}}
app.kubernetes.io/name: postrider
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{- define "postrider.fullname" -}}
{{ .root.Release.Name }}-{{ .name }}
{{- end }}

{{- define "postrider.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}
{{- else -}}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "postrider.ports" -}}
workspaces: 4410
contacts: 4411
templates: 4412
broadcasts: 4413
messages: 4414
webhooks: 4415
{{- end }}

{{- define "postrider.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "postrider.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- /* The variables of a process; workers have those of their service. */ -}}
{{- define "postrider.env" -}}
{{- $root := .root -}}
{{- $service := trimSuffix "-worker" .name | replace "inbound" "gateway" | replace "relay" "gateway" -}}
{{- $ports := include "postrider.ports" $root | fromYaml -}}
{{- /* Longer than callers keep the addresses behind a name: calls stop coming before the process refuses them. */ -}}
{{- $env := dict "HOST" "0.0.0.0" "HEALTH_PORT" "8080" "METRICS_PORT" "9464" "SHUTDOWN_DELAY_SECONDS" "7" "PUBLIC_URL" $root.Values.publicUrl "SERVICE_KEYS_FILE" (printf "/secrets/%s-keys" $service) -}}
{{- range $other, $port := $ports -}}
{{- $_ := set $env (printf "%s_ADDR" (upper $other)) (printf "%s-%s:%v" $root.Release.Name $other $port) -}}
{{- end -}}
{{- if eq .name "gateway" -}}
{{- $_ := set $env "GATEWAY_PORT" "4400" -}}
{{- $_ := set $env "GATEWAY_GRPC_PORT" "4406" -}}
{{- else if ne $service "gateway" -}}
{{- $_ := set $env (printf "%s_DATABASE_URL_FILE" (upper $service)) (printf "/secrets/%s-database-url" $service) -}}
{{- end -}}
{{- if hasKey $ports .name -}}
{{- $_ := set $env (printf "%s_PORT" (upper .name)) (get $ports .name | toString) -}}
{{- end -}}
{{- if has $service (list "contacts" "broadcasts" "webhooks") -}}
{{- $_ := set $env "TEMPORAL_ADDRESS" $root.Values.temporal.address -}}
{{- $_ := set $env "TEMPORAL_NAMESPACE" $root.Values.temporal.namespace -}}
{{- end -}}
{{- if eq .name "workspaces" -}}
{{- $_ := set $env "SECRET_KEY_FILE" "/secrets/secret-key" -}}
{{- end -}}
{{- if and (eq .name "inbound") $root.Values.env.BOUNCE_DOMAIN -}}
{{- $_ := set $env "BOUNCE_SMTP_PORT" "2525" -}}
{{- end -}}
{{- if eq .name "relay" -}}
{{- $_ := set $env "RELAY_SMTP_PORT" "2587" -}}
{{- $_ := set $env "RELAY_SMTPS_PORT" "2465" -}}
{{- if $root.Values.tls.relaySecretName -}}
{{- $_ := set $env "RELAY_TLS_CERT_FILE" "/relay-tls/tls.crt" -}}
{{- $_ := set $env "RELAY_TLS_KEY_FILE" "/relay-tls/tls.key" -}}
{{- end -}}
{{- end -}}
{{- if eq .name "messages" -}}
{{- $_ := set $env "MESSAGES_JOURNAL" "/journal" -}}
{{- end -}}
{{- if $root.Values.tls.internalSecretName -}}
{{- $_ := set $env "TLS_CA_FILE" "/tls/ca.crt" -}}
{{- $_ := set $env "TLS_CERT_FILE" "/tls/tls.crt" -}}
{{- $_ := set $env "TLS_KEY_FILE" "/tls/tls.key" -}}
{{- if hasKey $ports .name -}}
{{- $_ := set $env "TLS_CLIENT_CA_FILE" "/tls/ca.crt" -}}
{{- end -}}
{{- end -}}
{{- if and (eq .name "gateway") $root.Values.tls.gatewaySecretName -}}
{{- $_ := set $env "GATEWAY_TLS_CERT_FILE" "/gateway-tls/tls.crt" -}}
{{- $_ := set $env "GATEWAY_TLS_KEY_FILE" "/gateway-tls/tls.key" -}}
{{- end -}}
{{- $env = mergeOverwrite $env (deepCopy $root.Values.env) (deepCopy (.process.env | default dict)) -}}
{{- range $name, $value := $env }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- with $root.Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The secrets of a process and of no other. */ -}}
{{- define "postrider.secretItems" -}}
{{- $service := trimSuffix "-worker" .name | replace "inbound" "gateway" | replace "relay" "gateway" -}}
- { key: {{ $service }}-keys, path: {{ $service }}-keys }
{{- if ne $service "gateway" }}
- { key: {{ $service }}-database-url, path: {{ $service }}-database-url }
{{- end }}
{{- if eq .name "workspaces" }}
- { key: secret-key, path: secret-key }
{{- end }}
{{- end }}
