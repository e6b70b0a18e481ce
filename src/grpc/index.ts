// The door of grpc: calls of gRPC on HTTP/2 sessions of Node's, and protobuf's wire format for messages that are written by hand.
export { type CallStatus, type ChannelTls, type GrpcStream, type StreamSink, Channel } from './channel.ts';
export { frameMessage } from './frames.ts';
export { GrpcError, nameStatusCode, statusCode } from './grpc-error.ts';
export { type ObserveCall, PluginChannel, type PluginChannelOptions, PluginError } from './plugin-channel.ts';
export { MessageReader, MessageWriter } from './wire.ts';
