import type { Media, OpenApiDocument, OperationObject, Parameter, Schema } from './openapi.ts'

/** Who can send a request: anyone, an API token or a session, or a session alone. */
export type Access = 'public' | 'token' | 'session'

/** One representation of a body. `type` is a media type. */
export type Content = { type: string; schema: Schema; example?: unknown }

/** A response that is described for this operation alone. `status` is `200` or `default`. */
type Response = { status: string; description: string; contents: Content[] }

export type Operation = {
  id: string
  /** In capitals. */
  method: string
  /** With `{parameters}`. */
  path: string
  summary: string
  /** Empty where it would only repeat the summary. */
  description: string
  access: Access
  parameters: Parameter[]
  body: Content[]
  responses: Response[]
}

export type Group = { name: string; description: string; operations: Operation[] }

export type Reference = {
  version: string
  groups: Group[]
  /** In the order of the page. */
  operations: Operation[]
  schemas: Record<string, Schema>
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options']

/** Reads the document into groups in the order of its tags. */
export function readReference(document: OpenApiDocument): Reference {
  const byTag = new Map<string, Group>(
    (document.tags ?? []).map(({ name, description = '' }) => [
      name,
      { name, description, operations: [] },
    ]),
  )
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (!METHODS.includes(method)) continue
      const name = operation.tags?.[0] ?? ''
      const group = byTag.get(name) ?? { name, description: '', operations: [] }
      byTag.set(name, group)
      group.operations.push(readOperation(method, path, operation))
    }
  }
  const groups = [...byTag.values()].filter(({ operations }) => operations.length > 0)
  return {
    version: document.info.version,
    groups,
    operations: groups.flatMap(({ operations }) => operations),
    schemas: document.components?.schemas ?? {},
  }
}

function readOperation(method: string, path: string, operation: OperationObject): Operation {
  const { operationId, summary, description = '', security = [], parameters = [] } = operation
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    summary,
    description: description.replace(/\.$/, '') === summary ? '' : description,
    access: accessOf(security),
    parameters,
    body: contentsOf(operation.requestBody?.content),
    // Failures with a reference have the same shape everywhere; the page describes it once.
    responses: Object.entries(operation.responses)
      .filter(([, response]) => response.$ref === undefined)
      .map(([status, response]) => ({
        status,
        description: response.description ?? '',
        contents: contentsOf(response.content),
      })),
  }
}

function accessOf(security: Record<string, string[]>[]): Access {
  if (security.length === 0) return 'public'
  return security.some((scheme) => 'token' in scheme) ? 'token' : 'session'
}

function contentsOf(content: Record<string, Media> = {}): Content[] {
  return Object.entries(content).map(([type, { schema = {}, example }]) => ({
    type,
    schema,
    ...(example === undefined ? {} : { example }),
  }))
}
