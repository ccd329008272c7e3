{{/* How the processes reach the database. */}}

{{- define "cauri.databaseSecret" -}}
{{ include "cauri.fullname" . }}-database
{{- end }}

{{/* Whether the chart brings the database, and so the passwords of its users. */}}
{{- define "cauri.ownsDatabase" -}}
{{- if ne .Values.database.mode "existingSecret" }}true{{ end -}}
{{- end }}

{{/* The URL of a database that the chart brings, without a password: (list $ "user" "rw"). CloudNativePG has a Service for reading and
     writing, and one for reading. */}}
{{- define "cauri.databaseURL" -}}
{{- $root := index . 0 -}}
{{- if eq $root.Values.database.mode "embedded" -}}
postgres://{{ index . 1 }}@{{ include "cauri.fullname" $root }}-postgres:5432/cauri?sslmode=disable
{{- else -}}
postgres://{{ index . 1 }}@{{ include "cauri.fullname" $root }}-postgres-{{ index . 2 }}:5432/cauri?sslmode=require
{{- end -}}
{{- end }}

{{/* The environment with which a process logs in: (list $ "api"), or "owner" for migrations. The password is a variable of its own
     that Postgres' clients know, so that it is in no URL. */}}
{{- define "cauri.databaseEnv" -}}
{{- $root := index . 0 -}}
{{- $process := index . 1 -}}
{{- $database := $root.Values.database -}}
{{- if eq $database.mode "existingSecret" }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ required "database.mode is existingSecret: set database.existingSecret.name to the Secret that holds the database's URL" $database.existingSecret.name }}
      key: {{ index $database.existingSecret.keys $process | default $database.existingSecret.keys.owner }}
{{- else if and (eq $database.mode "cloudnativepg") (eq $process "owner") }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef: # made by the operator
      name: {{ include "cauri.fullname" $root }}-postgres-app
      key: uri
{{- else }}
- name: DATABASE_URL
  value: {{ include "cauri.databaseURL" (list $root (ternary "cauri" (printf "cauri_%s_user" $process) (eq $process "owner")) "rw") }}
- name: PGPASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ include "cauri.databaseSecret" $root }}
      key: {{ $process }}-password
{{- end }}
{{- end }}

{{/* Where the api reads lists, if not from the database itself. */}}
{{- define "cauri.replicaEnv" -}}
{{- $database := .Values.database -}}
{{- if and (eq $database.mode "existingSecret") $database.existingSecret.keys.read }}
- name: DATABASE_READ_URL
  valueFrom:
    secretKeyRef:
      name: {{ $database.existingSecret.name }}
      key: {{ $database.existingSecret.keys.read }}
{{- else if and (eq $database.mode "cloudnativepg") $database.cloudnativepg.readFromReplicas }}
- name: DATABASE_READ_URL
  value: {{ include "cauri.databaseURL" (list . "cauri_api_user" "ro") }}
{{- end }}
{{- end }}
