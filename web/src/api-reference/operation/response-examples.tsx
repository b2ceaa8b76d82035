import { CodeBlock } from '../code/code-block.tsx'
import { exampleOf } from '../document/example.ts'
import type { Content, Operation } from '../document/reference.ts'
import { resolve, type Schemas } from '../document/schema.ts'
import { operation as messages } from '../messages.ts'
import { useReferenceContext } from '../reference-context.ts'

/** An example of the first successful response, where its body is text. */
export function ResponseExamples({ operation: { responses } }: { operation: Operation }) {
  const { schemas } = useReferenceContext()
  const success = responses.find(({ status }) => status.startsWith('2'))
  const [content] = success?.contents ?? []
  const text = content && exampleText(content, schemas)
  if (!success || !content || text === undefined) return null
  return (
    <CodeBlock
      code={text}
      language={/json|event-stream/.test(content.type) ? 'json' : 'text'}
      what={messages.responseExample}
      head={`${messages.response} ${success.status}`}
    />
  )
}

/** Undefined for files and for bodies that the caller configures. */
function exampleText(content: Content, schemas: Schemas): string | undefined {
  const { type, schema } = content
  if (type === '*/*' || resolve(schema, schemas).format === 'binary') return undefined
  const value = exampleOf(content, schemas)
  if (typeof value === 'string') return value === 'string' ? undefined : value
  if (type === 'text/event-stream') return `data: ${JSON.stringify(value)}`
  if (type === 'application/x-ndjson') return JSON.stringify(value)
  return JSON.stringify(value, null, 2)
}
