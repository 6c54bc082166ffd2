import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.DefaultKubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * An operator on two of fabric8's informers: one ConfigMap for each Greeting, with its text.
 *
 * <p>fabric8's client is a library, and its packages hold no operator. What there is, the informers' stores say; each event of
 * either has its Greeting looked at, one at a time, and again a second later if a request fails.
 */
public final class Operator implements AutoCloseable {
  private static final long RESYNC_MILLIS = 0; // none, as informers have it where nothing is said
  private static final long RETRY_MILLIS = 1000;

  private final KubernetesClient client = new DefaultKubernetesClient();
  private final ScheduledExecutorService worker = Executors.newSingleThreadScheduledExecutor();
  private final SharedIndexInformer<Greeting> greetings;
  private final SharedIndexInformer<ConfigMap> configMaps;

  private Operator() {
    var factory = client.informers();
    greetings = factory.sharedIndexInformerForCustomResource(Greeting.class, RESYNC_MILLIS);
    configMaps = factory.sharedIndexInformerFor(ConfigMap.class, RESYNC_MILLIS);
    greetings.addEventHandler(new Handler<>(greeting -> greeting.getMetadata().getName()));
    configMaps.addEventHandler(new Handler<>(Operator::owner));
    factory.startAllRegisteredInformers();
  }

  public static void main(String[] arguments) throws InterruptedException {
    try (var operator = new Operator()) {
      Thread.currentThread().join();
    }
  }

  @Override
  public void close() {
    worker.shutdownNow();
    client.close();
  }

  private void look(String namespace, String name) {
    if (!greetings.hasSynced() || !configMaps.hasSynced()) {
      later(namespace, name, RETRY_MILLIS);
      return;
    }
    try {
      reconcile(namespace, name);
    } catch (KubernetesClientException failed) {
      System.err.println(namespace + "/" + name + ": " + failed.getMessage());
      later(namespace, name, RETRY_MILLIS);
    }
  }

  private void later(String namespace, String name, long milliseconds) {
    worker.schedule(() -> look(namespace, name), milliseconds, TimeUnit.MILLISECONDS);
  }

  private void reconcile(String namespace, String name) {
    var key = namespace + "/" + name;
    var greeting = greetings.getIndexer().getByKey(key);
    if (greeting == null || greeting.getMetadata().getDeletionTimestamp() != null) {
      return; // its ConfigMap goes by itself
    }
    var there = configMaps.getIndexer().getByKey(key);
    var spec = greeting.getSpec();
    var wanted = Map.of("text", String.valueOf(spec == null ? null : spec.getText()));
    if (there == null) {
      client.configMaps().inNamespace(namespace).create(configMap(greeting, wanted));
    } else if (name.equals(owner(there)) && !wanted.equals(there.getData())) {
      var changed = new ConfigMapBuilder(there).withData(wanted).build();
      var version = there.getMetadata().getResourceVersion();
      client.configMaps().inNamespace(namespace).withName(name).lockResourceVersion(version).replace(changed);
    }
  }

  private static ConfigMap configMap(Greeting greeting, Map<String, String> data) {
    var metadata = greeting.getMetadata();
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName(metadata.getName())
        .withNamespace(metadata.getNamespace())
        .addNewOwnerReference()
        .withApiVersion(greeting.getApiVersion())
        .withKind(greeting.getKind())
        .withName(metadata.getName())
        .withUid(metadata.getUid())
        .withController(true)
        .endOwnerReference()
        .endMetadata()
        .withData(data)
        .build();
  }

  /** The name of the Greeting that it belongs to; null for none. */
  private static String owner(HasMetadata child) {
    return child.getMetadata().getOwnerReferences().stream()
        .filter(owner -> owner.getKind().equals("Greeting"))
        .map(owner -> owner.getName())
        .findFirst()
        .orElse(null);
  }

  private final class Handler<T extends HasMetadata> implements ResourceEventHandler<T> {
    private final Function<T, String> nameOf;

    Handler(Function<T, String> nameOf) {
      this.nameOf = nameOf;
    }

    @Override
    public void onAdd(T object) {
      var name = nameOf.apply(object);
      if (name != null) {
        later(object.getMetadata().getNamespace(), name, 0);
      }
    }

    @Override
    public void onUpdate(T before, T after) {
      onAdd(before);
      onAdd(after);
    }

    @Override
    public void onDelete(T object, boolean unseen) {
      onAdd(object);
    }
  }

  /** What crd.yaml defines. */
  @Group("fabric8.io")
  @Version("v1")
  public static final class Greeting extends CustomResource<Spec, Void> implements Namespaced {}

  /** What is wanted. */
  public static final class Spec {
    private String text;

    public String getText() {
      return text;
    }

    public void setText(String text) {
      this.text = text;
    }
  }
}
