// Device claims as Go structs of the reference, which is how messages print them; go-structs.ts explains the notation. Node selectors are
// those of pods.
import { once } from '../../base/index.ts';
import { readGoStructs, shapeGoStruct } from '../common/validation/go-structs.ts';
import { podStructs } from '../core/pods/validation/structs.data.ts';

const DEVICE_STRUCTS = `
ResourceClaimSpec: Devices DeviceClaim
DeviceClaim: Requests []DeviceRequest; Constraints []DeviceConstraint; Config []DeviceClaimConfiguration
DeviceRequest: Name ""; Exactly *ExactDeviceRequest; FirstAvailable []DeviceSubRequest
ExactDeviceRequest: DeviceClassName ""; Selectors []DeviceSelector; AllocationMode ""; Count 0; AdminAccess; Tolerations []DeviceToleration; Capacity *Capacity
DeviceSubRequest: Name ""; DeviceClassName ""; Selectors []DeviceSelector; AllocationMode ""; Count 0; Tolerations []DeviceToleration; Capacity *Capacity
Capacity: Requests
DeviceSelector: CEL=cel *CELDeviceSelector
CELDeviceSelector: Expression ""
DeviceConstraint: Requests; MatchAttribute; DistinctAttribute
DeviceClaimConfiguration: Requests; Opaque *OpaqueDeviceConfiguration
OpaqueDeviceConfiguration: Driver ""; Parameters
DeviceToleration: Key ""; Operator ""; Value ""; Effect ""; TolerationSeconds
AllocationResult: Devices DeviceAllocationResult; NodeSelector *NodeSelector; AllocationTimestamp
DeviceAllocationResult: Results []DeviceRequestAllocationResult; Config []DeviceAllocationConfiguration
DeviceRequestAllocationResult: Request ""; +AllocatedDevice; AdminAccess; Tolerations []DeviceToleration; +BindingConditions; ShareID=shareID; ConsumedCapacity
AllocatedDevice: Driver ""; Pool ""; Device ""
BindingConditions: BindingConditions; BindingFailureConditions
DeviceAllocationConfiguration: Source ""; Requests; Opaque *OpaqueDeviceConfiguration
SharedDeviceID: +AllocatedDevice; ShareID=shareID ""
DeviceAttribute: IntValue=int; BoolValue=bool; StringValue=string; VersionValue=version; +AttributeLists
AttributeLists: IntValues=ints; BoolValues=bools; StringValues=strings; VersionValues=versions
`;
const structs = once(() => readGoStructs(podStructs + DEVICE_STRUCTS));

/** A part of a claim as the struct of that name prints. */
export function showDevicePart(name: string, value: unknown): unknown {
  return shapeGoStruct(structs(), name, value);
}
