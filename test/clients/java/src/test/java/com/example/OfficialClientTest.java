package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kubernetes.client.informer.ResourceEventHandler;
import io.kubernetes.client.informer.SharedInformerFactory;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1ConfigMapList;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.util.CallGeneratorParams;
import io.kubernetes.client.util.Config;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The official client: writes, conflicts, an informer. */
class OfficialClientTest {
  private static V1ConfigMap configMap(String name) {
    return new V1ConfigMap().metadata(new V1ObjectMeta().name(name)).data(Map.of("color", "blue"));
  }

  @Test
  void writesAndConflicts() throws Exception {
    CoreV1Api core = new CoreV1Api(Config.defaultClient());
    V1ConfigMap created = core.createNamespacedConfigMap("team", configMap("official")).execute();
    assertEquals("blue", core.readNamespacedConfigMap("official", "team").execute().getData().get("color"));
    assertEquals(409, assertThrows(ApiException.class, () -> core.createNamespacedConfigMap("team", configMap("official")).execute()).getCode());
    core.replaceNamespacedConfigMap("official", "team", created.data(Map.of("color", "red"))).execute();
    created.getMetadata().setResourceVersion("1");
    assertEquals(409, assertThrows(ApiException.class, () -> core.replaceNamespacedConfigMap("official", "team", created).execute()).getCode());
    core.deleteNamespacedConfigMap("official", "team").execute();
    assertEquals(404, assertThrows(ApiException.class, () -> core.readNamespacedConfigMap("official", "team").execute()).getCode());
  }

  @Test
  void informerSeesWhatIsThereAndWhatComes() throws Exception {
    ApiClient client = Config.defaultClient();
    client.setReadTimeout(0);
    CoreV1Api core = new CoreV1Api(client);
    core.createNamespacedConfigMap("team", configMap("before")).execute();
    CountDownLatch both = new CountDownLatch(2);
    SharedInformerFactory factory = new SharedInformerFactory(client);
    factory.sharedIndexInformerFor((CallGeneratorParams params) -> core.listNamespacedConfigMap("team").resourceVersion(params.resourceVersion)
        .timeoutSeconds(params.timeoutSeconds).watch(params.watch).buildCall(null), V1ConfigMap.class, V1ConfigMapList.class)
        .addEventHandler(new ResourceEventHandler<V1ConfigMap>() {
          @Override
          public void onAdd(V1ConfigMap object) {
            if (object.getMetadata().getName().matches("before|after")) both.countDown();
          }

          @Override
          public void onUpdate(V1ConfigMap old, V1ConfigMap object) {}

          @Override
          public void onDelete(V1ConfigMap object, boolean isUnknown) {}
        });
    factory.startAllRegisteredInformers();
    core.createNamespacedConfigMap("team", configMap("after")).execute();
    assertTrue(both.await(30, TimeUnit.SECONDS));
    factory.stopAllRegisteredInformers();
  }
}
