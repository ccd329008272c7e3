{{/* What the pods have in common. */}}

{{/* The beginning of a pod's spec, by its values: (list $ .Values.jobs). */}}
{{- define "cauri.pod" -}}
{{- $root := index . 0 -}}
{{- $values := index . 1 -}}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
# Kubernetes' variables for Services begin as Cauri's own do.
enableServiceLinks: false
securityContext:
  {{- toYaml $root.Values.podSecurityContext | nindent 2 }}
{{- with include "cauri.scheduling" $values }}
{{ trim . }}
{{- end }}
{{- end }}

{{- define "cauri.scheduling" }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The topology spread constraints of a component: (list $ "api"). */}}
{{- define "cauri.topologySpread" -}}
{{- $root := index . 0 -}}
{{- with index $root.Values (index . 1) "topologySpreadConstraints" }}
topologySpreadConstraints:
{{- range . }}
{{- $own := dict "labelSelector" (dict "matchLabels" (include "cauri.selectorLabels" $ | fromYaml)) "matchLabelKeys" (list "pod-template-hash") }}
- {{ ternary . (merge (deepCopy .) $own) (hasKey . "labelSelector") | toYaml | nindent 2 | trim }}
{{- end }}
{{- end }}
{{- end }}

{{/* The beginning of a container that runs Cauri. */}}
{{- define "cauri.container" -}}
image: {{ include "cauri.image" (list .Values.image .Chart.AppVersion) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  {{- toYaml .Values.securityContext | nindent 2 }}
{{- end }}

{{- define "cauri.loggingArgs" -}}
- --log-format={{ .Values.logging.format }}
- --log-level={{ .Values.logging.level }}
{{- end }}

{{/* How a component is replaced: a new pod is ready before an old one is told to stop. */}}
{{- define "cauri.rollingUpdate" -}}
strategy:
  type: RollingUpdate
  rollingUpdate:
    maxUnavailable: 0
    maxSurge: 25%
{{- end }}

{{/* The garbage collector of Go keeps within 90 % of the memory that the container has. */}}
{{- define "cauri.memoryLimit" -}}
{{- if dig "limits" "memory" "" . }}
- name: CAURI_CONTAINER_MEMORY
  valueFrom:
    resourceFieldRef:
      resource: limits.memory
      divisor: "0" # the default, which Argo CD would otherwise show as a difference for ever
{{- end }}
{{- end }}

{{/* The file with the encryption keys. A changed Secret needs no restart: it is read again as it changes. */}}
{{- define "cauri.encryptionVolume" -}}
- name: encryption
  secret:
    secretName: {{ include "cauri.encryptionSecret" . }}
    defaultMode: 0440
    items:
    - key: {{ .Values.encryption.key }}
      path: keys
{{- end }}

{{- define "cauri.encryptionMount" -}}
- name: encryption
  mountPath: /etc/cauri/encryption
  readOnly: true
{{- end }}

{{/* Volumes of all pods that use the database: the authorities that are trusted instead of those that the program has with it, and
the values extraVolumes. */}}
{{- define "cauri.volumes" -}}
{{- with .Values.certificateAuthorities }}
{{- if .configMap }}
- name: authorities
  configMap:
    name: {{ .configMap }}
    items:
    - key: {{ .key }}
      path: authorities.pem
{{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "cauri.volumeMounts" -}}
{{- if .Values.certificateAuthorities.configMap }}
- name: authorities
  mountPath: /etc/cauri/authorities
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Containers that run beside the own one of each of these pods. */}}
{{- define "cauri.sidecars" -}}
{{- with .Values.sidecars }}
initContainers:
{{- range . }}
- {{ merge (dict "restartPolicy" "Always") . | toYaml | nindent 2 | trim }}
{{- end }}
{{- end }}
{{- end }}

{{- define "cauri.authoritiesEnv" -}}
{{- if .Values.certificateAuthorities.configMap -}}
- name: SSL_CERT_FILE
  value: /etc/cauri/authorities/authorities.pem
{{- end }}
{{- end }}
