//! A test as projects with kube have them: `Client::try_default` reads the KUBECONFIG that `pintle run` sets.
#![cfg(test)]

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::Client;
use serde_json::json;

#[tokio::test]
async fn config_maps_are_created_applied_listed_and_deleted() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::try_default().await?;
    let maps: Api<ConfigMap> = Api::namespaced(client, "team");
    let map: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "prices", "labels": {"app": "shop"}}, "data": {"apple": "3"}}))?;
    let created = maps.create(&PostParams::default(), &map).await?;
    assert!(created.metadata.uid.is_some());

    let change = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"pear": "4"}});
    let applied = maps.patch("prices", &PatchParams::apply("recipe"), &Patch::Apply(&change)).await?;
    assert_eq!(applied.data.map(|data| data.len()), Some(2));

    let found = maps.list(&ListParams::default().labels("app=shop")).await?;
    assert_eq!(found.items.len(), 1);

    let again = maps.create(&PostParams::default(), &map).await;
    assert!(matches!(again, Err(kube::Error::Api(status)) if status.code == 409));
    maps.delete("prices", &DeleteParams::default()).await?;
    Ok(())
}
