package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The client of fabric8: server-side apply, waiting, an informer. */
class FabricClientTest {
  private static ConfigMap configMap(String name, String color) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace("team").endMetadata().addToData("color", color).build();
  }

  @Test
  void appliesAndWaits() {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      PatchContext apply = new PatchContext.Builder().withPatchType(PatchType.SERVER_SIDE_APPLY).withFieldManager("java").withForce(true).build();
      client.resource(configMap("fabric", "blue")).patch(apply);
      client.resource(configMap("fabric", "red")).patch(apply);
      assertEquals("red", client.configMaps().inNamespace("team").withName("fabric").get().getData().get("color"));
      client.configMaps().inNamespace("team").withName("fabric").edit(found -> new ConfigMapBuilder(found).addToData("size", "big").build());
      client.configMaps().inNamespace("team").withName("fabric").waitUntilCondition(found -> found != null && found.getData().size() == 2, 10, TimeUnit.SECONDS);
      client.resource(configMap("fabric", "red")).delete();
      assertNull(client.configMaps().inNamespace("team").withName("fabric").get());
    }
  }

  @Test
  void informerSeesWhatIsThereAndWhatComes() throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      client.resource(configMap("fabric-before", "blue")).create();
      CountDownLatch all = new CountDownLatch(3);
      SharedIndexInformer<ConfigMap> informer = client.configMaps().inNamespace("team").inform(new ResourceEventHandler<>() {
        @Override
        public void onAdd(ConfigMap object) {
          if (object.getMetadata().getName().startsWith("fabric-")) all.countDown();
        }

        @Override
        public void onUpdate(ConfigMap old, ConfigMap object) {}

        @Override
        public void onDelete(ConfigMap object, boolean isUnknown) {
          if (object.getMetadata().getName().equals("fabric-after")) all.countDown();
        }
      });
      client.resource(configMap("fabric-after", "blue")).create();
      client.resource(configMap("fabric-after", "blue")).delete();
      assertTrue(all.await(30, TimeUnit.SECONDS));
      informer.close();
    }
  }
}
