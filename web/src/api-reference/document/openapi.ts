// The parts of an OpenAPI 3.1 document that the reference reads.

export type Schema = {
  $ref?: string
  title?: string
  description?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  example?: unknown
  examples?: unknown[]
}

export type Media = { schema?: Schema; example?: unknown }
export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}
type ResponseObject = {
  $ref?: string
  description?: string
  content?: Record<string, Media>
}
export type OperationObject = {
  operationId: string
  summary: string
  description?: string
  tags?: string[]
  security?: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, Media> }
  responses: Record<string, ResponseObject>
}
export type OpenApiDocument = {
  info: { version: string }
  tags?: { name: string; description?: string }[]
  paths: Record<string, Record<string, OperationObject>>
  components?: {
    schemas?: Record<string, Schema>
    responses?: Record<string, ResponseObject>
  }
}
