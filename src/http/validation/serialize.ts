import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { streamOfParts } from '../send-parts.ts'
import { serializeInSlices } from './serialize-slices.ts'

type Factory = ReturnType<typeof SerializerSelector>

type Serialize = ReturnType<ReturnType<Factory>>

/** Those of schemas, which several routes share, as that of failures. */
const serializers = new WeakMap<object, Serialize>()

/**
 * The framework's serializers of responses, each compiled on first use: compiling those of all
 * routes takes as long as the rest of the start. No schema refers to another one by its `$id`, so
 * that a serializer depends on its schema alone. A long list becomes a stream, which the framework
 * sends as it is.
 */
export const buildSerializer: Factory = (externalSchemas, options) => {
  const compile = SerializerSelector()(externalSchemas, options)
  return (route) => {
    const schema = route.schema as object
    return (data) => {
      let serialize = serializers.get(schema)
      if (!serialize) {
        serialize = compile(route)
        serializers.set(schema, serialize)
      }
      const slices = serializeInSlices(serialize, data)
      return slices ? (streamOfParts(slices) as unknown as string) : serialize(data)
    }
  }
}
