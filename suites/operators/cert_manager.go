// The main package that cert-manager's own module lacks: cmd/controller is a module of its own in the same repository, without a version
// that a proxy could give. This one starts the same controllers, from the packages of the published module, with their own defaults.
//
// Compiled in the place of cmd/controller, inside of that module. Left out of what cert-manager's own main does: leader election, health
// probes and profiling. Flags have the names that cert-manager gives them.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-base/cli/flag"

	config "github.com/cert-manager/cert-manager/internal/apis/config/controller"
	"github.com/cert-manager/cert-manager/internal/apis/config/controller/scheme"
	defaults "github.com/cert-manager/cert-manager/internal/apis/config/controller/v1alpha1"
	"github.com/cert-manager/cert-manager/internal/cmd/util"
	published "github.com/cert-manager/cert-manager/pkg/apis/config/controller/v1alpha1"
	"github.com/cert-manager/cert-manager/pkg/controller"
	dns "github.com/cert-manager/cert-manager/pkg/issuer/acme/dns/util"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/util/feature"

	_ "github.com/cert-manager/cert-manager/internal/controller/feature" // the controllers come with the defaults, issuers do not
	_ "github.com/cert-manager/cert-manager/pkg/issuer/acme"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/vault"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/venafi"
)

func main() {
	ctx, exit := util.SetupExitHandler(context.Background(), util.GracefulShutdown)
	defer exit()
	logf.InitLogs()
	defer logf.FlushLogs()
	ctx = logf.NewContext(ctx, logf.Log, "controller")
	if err := start(ctx, os.Args[1:]); err != nil {
		logf.FromContext(ctx).Error(err, "the controllers ended")
		util.SetExitCode(err)
	}
}

func start(ctx context.Context, arguments []string) error {
	wanted, err := configured(arguments)
	if err != nil {
		return err
	}
	options, err := optionsOf(wanted)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	factory, err := controller.NewContextFactory(ctx, options)
	if err != nil {
		return err
	}
	shared, err := factory.Build() // its informers are those of all contexts
	if err != nil {
		return err
	}
	if err := serveMetrics(ctx, group, shared, wanted.MetricsListenAddress); err != nil {
		return err
	}
	for name, make := range controller.Known() {
		if !slices.Contains(defaults.DefaultEnabledControllers, name) {
			continue
		}
		one, err := make(factory)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		group.Go(func() error { return one.Run(wanted.NumberOfConcurrentWorkers, ctx) })
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	shared.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
	return group.Wait()
}

// configured is cert-manager's default configuration with what the command line says.
func configured(arguments []string) (*config.ControllerConfiguration, error) {
	known, _, err := scheme.NewSchemeAndCodecs()
	if err != nil {
		return nil, err
	}
	file, wanted := &published.ControllerConfiguration{}, &config.ControllerConfiguration{}
	known.Default(file)
	if err := known.Convert(file, wanted, nil); err != nil {
		return nil, err
	}
	flags := pflag.NewFlagSet("controller", pflag.ContinueOnError)
	flags.StringVar(&wanted.KubeConfig, "kubeconfig", wanted.KubeConfig, "where the API server is")
	flags.Float32Var(&wanted.KubernetesAPIQPS, "kube-api-qps", wanted.KubernetesAPIQPS, "requests a second")
	flags.IntVar(&wanted.KubernetesAPIBurst, "kube-api-burst", wanted.KubernetesAPIBurst, "requests at once")
	flags.StringVar(&wanted.ClusterResourceNamespace, "cluster-resource-namespace", wanted.ClusterResourceNamespace, "of ClusterIssuers")
	flags.BoolVar(&wanted.EnableCertificateOwnerRef, "enable-certificate-owner-ref", wanted.EnableCertificateOwnerRef, "Secrets go with their Certificates")
	flags.StringVar(&wanted.MetricsListenAddress, "metrics-listen-address", wanted.MetricsListenAddress, "where metrics are served")
	flags.Var(flag.NewMapStringBool(&wanted.FeatureGates), "feature-gates", "key=value pairs")
	logf.AddFlags(&wanted.Logging, flags)
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	if err := feature.DefaultMutableFeatureGate.SetFromMap(wanted.FeatureGates); err != nil {
		return nil, err
	}
	return wanted, logf.ValidateAndApply(&wanted.Logging)
}

func optionsOf(wanted *config.ControllerConfiguration) (controller.ContextOptions, error) {
	solver, shim := wanted.ACMEHTTP01Config, wanted.IngressShimConfig
	acme := controller.ACMEOptions{
		HTTP01SolverImage:            solver.SolverImage,
		ACMEHTTP01SolverRunAsNonRoot: solver.SolverRunAsNonRoot,
		HTTP01SolverNameservers:      solver.SolverNameservers,
		DNS01Nameservers:             wanted.ACMEDNS01Config.RecursiveNameservers,
		DNS01CheckAuthoritative:      !wanted.ACMEDNS01Config.RecursiveNameserversOnly,
		DNS01CheckRetryPeriod:        wanted.ACMEDNS01Config.CheckRetryPeriod,
	}
	if len(acme.DNS01Nameservers) == 0 {
		acme.DNS01Nameservers = dns.RecursiveNameservers
	}
	for _, each := range []struct {
		quantity *resource.Quantity
		text     string
	}{
		{&acme.HTTP01SolverResourceRequestCPU, solver.SolverResourceRequestCPU},
		{&acme.HTTP01SolverResourceRequestMemory, solver.SolverResourceRequestMemory},
		{&acme.HTTP01SolverResourceLimitsCPU, solver.SolverResourceLimitsCPU},
		{&acme.HTTP01SolverResourceLimitsMemory, solver.SolverResourceLimitsMemory},
	} {
		quantity, err := resource.ParseQuantity(each.text)
		if err != nil {
			return controller.ContextOptions{}, fmt.Errorf("%q: %w", each.text, err)
		}
		*each.quantity = quantity
	}
	return controller.ContextOptions{
		Kubeconfig:         wanted.KubeConfig,
		KubernetesAPIQPS:   wanted.KubernetesAPIQPS,
		KubernetesAPIBurst: wanted.KubernetesAPIBurst,
		ACMEOptions:        acme,
		IssuerOptions: controller.IssuerOptions{
			ClusterResourceNamespace:        wanted.ClusterResourceNamespace,
			ClusterIssuerAmbientCredentials: wanted.ClusterIssuerAmbientCredentials,
			IssuerAmbientCredentials:        wanted.IssuerAmbientCredentials,
		},
		IngressShimOptions: controller.IngressShimOptions{
			DefaultIssuerName:                 shim.DefaultIssuerName,
			DefaultIssuerKind:                 shim.DefaultIssuerKind,
			DefaultIssuerGroup:                shim.DefaultIssuerGroup,
			DefaultAutoCertificateAnnotations: shim.DefaultAutoCertificateAnnotations,
			ExtraCertificateAnnotations:       shim.ExtraCertificateAnnotations,
		},
		CertificateOptions: controller.CertificateOptions{
			EnableOwnerRef:                           wanted.EnableCertificateOwnerRef,
			CopiedAnnotationPrefixes:                 wanted.CopiedAnnotationPrefixes,
			CertificateRequestMinimumBackoffDuration: wanted.CertificateRequestMinimumBackoffDuration,
		},
		SchedulerOptions: controller.SchedulerOptions{MaxConcurrentChallenges: wanted.MaxConcurrentChallenges},
	}, nil
}

func serveMetrics(ctx context.Context, group *errgroup.Group, shared *controller.Context, address string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := shared.Metrics.NewServer(listener)
	group.Go(func() error {
		<-ctx.Done()
		return server.Close()
	})
	go server.Serve(listener)
	return nil
}
