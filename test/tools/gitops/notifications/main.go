// `argocd admin notifications` without the rest of argocd: its commands over Argo CD's ConfigMap, an Application in a file and a kubeconfig,
// with the variable `app` alone.
package main

import (
	"os"

	"github.com/argoproj/notifications-engine/pkg/api"
	"github.com/argoproj/notifications-engine/pkg/cmd"
	"github.com/argoproj/notifications-engine/pkg/services"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func variables(_ *api.Config, _ *corev1.ConfigMap, _ *corev1.Secret) (api.GetVars, error) {
	return func(app map[string]any, _ services.Destination) map[string]any {
		return map[string]any{"app": app}
	}, nil
}

func main() {
	applications := schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
	settings := api.Settings{ConfigMapName: "argocd-notifications-cm", SecretName: "argocd-notifications-secret", InitGetVars: variables}
	if cmd.NewToolsCommand("notifications", "notifications", applications, settings).Execute() != nil {
		os.Exit(1)
	}
}
