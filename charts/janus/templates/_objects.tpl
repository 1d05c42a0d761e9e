{{- /* The objects of one file, with the values worked in. `served` is the namespace that a Role is made for. */ -}}
{{- define "janus.objects" -}}
{{- $root := .root -}}
{{- $served := .served -}}
{{- range splitList "\n---\n" (.text | replace "janus-system" $root.Release.Namespace | replace "janus-hook-token" $root.Values.tokenSecret) }}
{{- $object := fromYaml . -}}
{{- $wide := and (has $object.kind (list "ClusterRole" "ClusterRoleBinding")) (eq $object.metadata.name "janus") -}}
{{- if not (and $wide $root.Values.namespaces) }}
{{- if eq $object.kind "CustomResourceDefinition" }}{{ include "janus.definition" $object }}{{ end -}}
{{- if eq $object.kind "Deployment" }}{{ include "janus.deployment" (dict "root" $root "object" $object) }}{{ end -}}
{{- if $served }}{{ include "janus.served" (dict "served" $served "object" $object) }}{{ end -}}
---
{{ toYaml $object }}
{{ end }}
{{- end }}
{{- end -}}

{{- define "janus.definition" -}}
{{- $annotations := default dict .metadata.annotations -}}
{{- $_ := set .metadata "annotations" (merge (dict "helm.sh/resource-policy" "keep") $annotations) -}}
{{- end -}}

{{- define "janus.served" -}}
{{- $_ := set .object.metadata "namespace" .served.name -}}
{{- if eq .object.kind "Role" }}{{ $_ := set (first .object.rules) "resourceNames" .served.serviceAccounts }}{{ end -}}
{{- end -}}

{{- define "janus.deployment" -}}
{{- $values := .root.Values -}}
{{- $_ := set .object.spec "replicas" $values.replicas -}}
{{- $pod := .object.spec.template.spec -}}
{{- $container := first $pod.containers -}}
{{- $_ := set $container "image" (printf "%s:%s" $values.image.repository ($values.image.tag | default .root.Chart.AppVersion)) -}}
{{- with $values.image.pullPolicy }}{{ $_ := set $container "imagePullPolicy" . }}{{ end -}}
{{- with $values.image.pullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end -}}
{{- with $values.resources }}{{ $_ := set $container "resources" . }}{{ end -}}
{{- with $values.nodeSelector }}{{ $_ := set $pod "nodeSelector" . }}{{ end -}}
{{- with $values.tolerations }}{{ $_ := set $pod "tolerations" . }}{{ end -}}
{{- range $container.env }}{{ if eq .name "LOG_LEVEL" }}{{ $_ := set . "value" $values.logLevel }}{{ end }}{{ end -}}
{{- with $values.namespaces }}
{{- $names := list -}}
{{- range . }}{{ $names = append $names .name }}{{ end -}}
{{- $_ := set $container "env" (append $container.env (dict "name" "JANUS_NAMESPACES" "value" (join "," $names))) -}}
{{- end -}}
{{- end -}}
