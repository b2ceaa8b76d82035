import { SaxesParser } from 'saxes'

/** A response of S3: flat fields, and lists of elements with fields. */
export type S3Document = {
  root: string
  /** The text of the first element with this name below the root; empty without one. */
  text(name: string): string
  /** The fields of every element with this name below the root. */
  all(name: string): Record<string, string>[]
}

type Child = { name: string; text: string; fields: Record<string, string> }

/** Parses a response. What is no XML, such as the page of a proxy, has no fields. */
export function parseS3(xml: string): S3Document {
  const parser = new SaxesParser()
  const path: string[] = []
  const children: Child[] = []
  let root = ''
  parser.on('opentag', ({ name }) => {
    path.push(name)
    if (path.length === 1) root = name
    if (path.length === 2) children.push({ name, text: '', fields: {} })
  })
  parser.on('closetag', () => void path.pop())
  parser.on('text', (text) => {
    const child = children.at(-1)
    const [, , field] = path
    if (!child || path.length < 2) return
    if (field === undefined) child.text += text
    else if (path.length === 3) child.fields[field] = (child.fields[field] ?? '') + text
  })
  try {
    parser.write(xml).close()
  } catch {
    children.length = 0
  }
  const named = (name: string) => children.filter((child) => child.name === name)
  return {
    root,
    text: (name) => named(name)[0]?.text ?? '',
    all: (name) => named(name).map(({ fields }) => fields),
  }
}
