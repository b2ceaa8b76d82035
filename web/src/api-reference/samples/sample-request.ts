import { exampleOf, parameterExample } from '../document/example.ts'
import type { Access, Operation } from '../document/reference.ts'
import type { Schemas } from '../document/schema.ts'

/** A file that stands for the reader’s own. */
export const UPLOAD_FILE = 'report.xml.gz'
export const DOWNLOAD_FILE = 'download.bin'

export type SampleBody =
  | { kind: 'json'; value: unknown }
  | { kind: 'text'; type: string; text: string }
  | { kind: 'file'; type: string }

/** An example request, which each language writes in its own way. Secrets are named, not written. */
export type SampleRequest = {
  method: string
  /** With the query. */
  url: string
  access: Access
  /** Without those of authentication and of the body’s type. */
  headers: [name: string, value: string][]
  body: SampleBody | null
  /** How the response is read. */
  answer: 'json' | 'text' | 'stream' | 'file' | 'none'
}

/** @param baseUrl origin of the service, without a slash at the end */
export function sampleRequestOf(
  operation: Operation,
  schemas: Schemas,
  baseUrl: string,
): SampleRequest {
  const { method, path, access, parameters } = operation
  const example = (name: string) => {
    const parameter = parameters.find((each) => each.name === name)
    return parameter ? asText(parameterExample(parameter, schemas)) : name
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(example(name)),
  )
  const query = new URLSearchParams(
    parameters
      .filter((parameter) => parameter.in === 'query' && parameter.required)
      .map(({ name }) => [name, example(name)]),
  ).toString()
  const headers = parameters.filter((parameter) => parameter.in === 'header' && parameter.required)
  return {
    method,
    url: `${baseUrl}${filled}${query === '' ? '' : `?${query}`}`,
    access,
    headers: headers.map(({ name }) => [name, example(name)]),
    body: bodyOf(operation, schemas),
    answer: answerOf(operation),
  }
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function bodyOf({ body, method }: Operation, schemas: Schemas): SampleBody | null {
  const [content] = body
  if (!content) return null
  const { type } = content
  if (type === 'application/json') return { kind: 'json', value: exampleOf(content, schemas, true) }
  if (type === '*/*')
    return method === 'DELETE' ? null : { kind: 'json', value: { order: 1042, state: 'paid' } }
  const text = exampleOf(content, schemas, true)
  const isText = typeof text === 'string' && /^text\/|ndjson/.test(type)
  return isText ? { kind: 'text', type, text } : { kind: 'file', type }
}

function answerOf({ method, responses }: Operation): SampleRequest['answer'] {
  const success = responses.find(({ status }) => status.startsWith('2'))
  const type = success?.contents[0]?.type
  if (method === 'HEAD' || type === undefined) return 'none'
  if (type === 'application/json') return 'json'
  if (type === 'text/event-stream') return 'stream'
  return type === 'application/octet-stream' ? 'file' : 'text'
}
