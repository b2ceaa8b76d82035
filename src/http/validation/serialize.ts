import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'

type Factory = ReturnType<typeof SerializerSelector>

/**
 * The framework's serializers of responses, each compiled on first use: compiling those of all
 * routes takes as long as the rest of the start.
 */
export const buildSerializer: Factory = (externalSchemas, options) => {
  const compile = SerializerSelector()(externalSchemas, options)
  return (route) => {
    let serialize: ReturnType<typeof compile> | undefined
    return (data) => (serialize ??= compile(route))(data)
  }
}
