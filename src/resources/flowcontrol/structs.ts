// Specs of flow schemas and priority levels as errors print them: in the form of the Go structs of the reference; go-structs.ts explains the notation.
import { once } from '../../base/index.ts';
import { readGoStructs, shapeGoStruct } from '../common/validation/go-structs.ts';

const structs = once(() => readGoStructs(`
FlowSchemaSpec: PriorityLevelConfiguration NamedReference; MatchingPrecedence 0; DistinguisherMethod *FlowDistinguisherMethod; Rules []PolicyRules
NamedReference: Name ""
FlowDistinguisherMethod: Type ""
PolicyRules: Subjects []Subject; ResourceRules []ResourcePolicyRule; NonResourceRules []NonResourcePolicyRule
Subject: Kind ""; User *NamedReference; Group *NamedReference; ServiceAccount *ServiceAccountSubject
ServiceAccountSubject: Namespace ""; Name ""
ResourcePolicyRule: Verbs; APIGroups=apiGroups; Resources; ClusterScope false; Namespaces
NonResourcePolicyRule: Verbs; NonResourceURLs
PriorityLevelConfigurationSpec: Type ""; Limited *LimitedLevel; Exempt *ExemptLevel
LimitedLevel: NominalConcurrencyShares 0; LimitResponse LimitResponse; LendablePercent; BorrowingLimitPercent
LimitResponse: Type ""; Queuing *QueuingConfiguration
QueuingConfiguration: Queues 0; HandSize 0; QueueLengthLimit 0
ExemptLevel: NominalConcurrencyShares; LendablePercent
`));

/** The spec in the form that the struct of that name prints. */
export function showSpec(name: 'FlowSchemaSpec' | 'PriorityLevelConfigurationSpec', spec: unknown): unknown {
  return shapeGoStruct(structs(), name, spec);
}
