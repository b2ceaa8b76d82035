import { setImmediate } from 'node:timers/promises'
import { SaxesParser } from 'saxes'
import { Fault } from '../../errors.ts'
import { decodeText } from './charset.ts'
import { REPORT_LIMITS } from './report-limits.ts'
import { printable } from './report-values.ts'

/**
 * An element with its own text, trimmed. Names are local, because prefixes and namespaces are
 * unreliable.
 */
export type XmlElement = { name: string; text: string; children: XmlElement[] }

export type WantedSection = {
  root: string
  /** Finds its start in a text. */
  start: RegExp
  /** Children of the root to read; the rest is skipped. */
  sections: ReadonlySet<string>
}

export function wanted(root: string, ...sections: string[]): WantedSection {
  return {
    root,
    start: new RegExp(String.raw`<(?:[\w.-]{1,40}:)?${root}[\s/>]`),
    sections: new Set(sections),
  }
}

type Read = {
  /** The namespace of the root. */
  namespace: string | null
  /** The first error of syntax with its position; null when there is none. */
  blemish: string | null
}

/** Characters read before others get their turn: some milliseconds. */
const SLICE_BYTES = 64 * 1024

/**
 * Reads the children of the root one by one, so that memory contains one of them, for any size of
 * the document. Skips content around the root and errors within it. Expands only XML’s own five
 * entities and numeric ones.
 * @throws Fault `invalid_request`, `too_large`: no such root, any DOCTYPE, beyond a limit, or
 *   truncated
 */
export async function readSections(
  xml: AsyncIterable<Uint8Array> | Uint8Array,
  { root, start, sections }: WantedSection,
  onSection: (section: XmlElement) => void | Promise<void>,
): Promise<Read> {
  const ready: XmlElement[] = []
  const reader = createReader(sections, (section) => ready.push(section))
  for await (const text of escaped(fromRoot(decodeText(slices(xml)), start, root))) {
    reader.write(text)
    for (const section of ready) {
      const done = onSection(section)
      if (done) await done
    }
    ready.length = 0
    if (reader.isComplete()) break
    await setImmediate()
  }
  if (!reader.isComplete())
    throw new Fault('invalid_request', `The XML is truncated at ${reader.where()}.`)
  return reader.read()
}

async function* slices(bytes: AsyncIterable<Uint8Array> | Uint8Array): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes instanceof Uint8Array ? [bytes] : bytes) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES)
      yield chunk.subarray(at, at + SLICE_BYTES)
  }
}

/** Removes content before the root: declarations, stray tags, text. Lines keep their numbers. */
async function* fromRoot(
  texts: AsyncGenerator<string>,
  start: RegExp,
  root: string,
): AsyncGenerator<string> {
  try {
    const { before, from } = await findRoot(texts, start)
    if (/<!(?:DOCTYPE|ENTITY)/i.test(before)) refuseDoctype()
    if (from === null) throw new Fault('invalid_request', `The <${root}> element is missing.`)
    yield before.replaceAll(/[^\n]/g, '') + from
    yield* texts
  } finally {
    await texts.return(undefined)
  }
}

async function findRoot(texts: AsyncGenerator<string>, start: RegExp) {
  let head = ''
  while (head.length <= REPORT_LIMITS.head) {
    const { done, value } = await texts.next()
    if (done) break
    head += value
    const at = head.search(start)
    if (at >= 0) return { before: head.slice(0, at), from: head.slice(at) }
  }
  return { before: head, from: null }
}

/**
 * Escapes an ampersand that begins no entity: behind one, the parser would take all up to the next
 * semicolon for its name.
 */
async function* escaped(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let held = ''
  for await (const piece of texts) {
    const text = held + piece
    const last = text.indexOf('&', text.length - MAX_ENTITY_CHARACTERS)
    held = last < 0 ? '' : text.slice(last)
    const whole = text.slice(0, text.length - held.length)
    yield whole.includes('&') ? whole.replaceAll(LONE_AMPERSAND, '&amp;') : whole
  }
  yield held.replaceAll(LONE_AMPERSAND, '&amp;')
}

const LONE_AMPERSAND = /&(?!#?\w{1,31};)/g
const MAX_ENTITY_CHARACTERS = 34

function refuseDoctype(): never {
  throw new Fault('invalid_request', 'The XML has a DOCTYPE, which is not allowed.')
}

type Root = { name: string; attributes: Record<string, string> }

type Reader = {
  write(text: string): void
  isComplete(): boolean
  /** Line and column. */
  where(): string
  read(): Read
}

function createReader(
  sections: ReadonlySet<string>,
  onSection: (section: XmlElement) => void,
): Reader {
  // With an eighth handler V8 makes the parser a dictionary, and it is five times slower.
  const parser = new SaxesParser({ position: false })
  const { limit, startElement, where, blemish } = watch(parser)
  /** The section being read and the elements open within it. */
  const open: XmlElement[] = []
  let depth = 0
  let elements = 0
  let root: Root | undefined
  let isComplete = false
  /** Characters since the last tag or text, which the parser keeps in memory. */
  let kept = 0

  parser.on('opentag', (tag) => {
    kept = 0
    root ??= { name: tag.name, attributes: tag.attributes as Record<string, string> }
    startElement(++depth)
    const name = localName(tag.name)
    const parent = open.at(-1)
    if (isComplete || !(parent || (depth === 2 && sections.has(name)))) return
    elements = parent ? elements + 1 : 0
    limit(elements, 'elements', 'elements in one record')
    const element = { name, text: '', children: [] }
    parent?.children.push(element)
    open.push(element)
  })
  const onText = (text: string) => {
    kept = 0
    const element = open.at(-1)
    // Between elements there is nothing but blanks.
    if (!element || element.children.length > 0 || element.text.length >= REPORT_LIMITS.text) return
    element.text += text.slice(0, REPORT_LIMITS.text)
  }
  parser.on('text', onText)
  parser.on('cdata', onText)
  parser.on('closetag', () => {
    kept = 0
    const element = open.pop()
    if (element) element.text = (blemish() === null ? element.text : printable(element.text)).trim()
    if (element && open.length === 0) onSection(element)
    isComplete ||= --depth === 0
  })
  return {
    write: (text) => {
      parser.write(text)
      kept += text.length
      limit(kept, 'piece', 'characters without a tag')
    },
    isComplete: () => isComplete,
    where,
    read: () => ({ namespace: root ? namespaceOf(root) : null, blemish: blemish() }),
  }
}

type Limit = 'piece' | 'elementDepth' | 'elements' | 'attributes'

/** Counts excesses of a hostile document, and its errors; the first error is kept. */
function watch(parser: SaxesParser) {
  const where = () => `line ${parser.line}, column ${parser.column}`
  const limit = (count: number, name: Limit, what: string) => {
    if (count <= REPORT_LIMITS[name]) return
    throw new Fault(
      'too_large',
      `The XML has more than ${REPORT_LIMITS[name].toLocaleString('en')} ${what}, at ${where()}.`,
    )
  }
  let blemish: string | null = null
  let blemishes = 0
  let attributes = 0
  parser.on('error', ({ message }) => {
    blemish ??= `not well-formed at ${where()}: ${message.replace(/\.$/, '')}`
    blemishes++
    if (blemishes > REPORT_LIMITS.blemishes)
      throw new Fault('invalid_request', `The XML is ${blemish}.`)
  })
  parser.on('doctype', refuseDoctype)
  parser.on('attribute', () => limit(++attributes, 'attributes', 'attributes on one element'))
  const startElement = (depth: number) => {
    attributes = 0
    limit(depth, 'elementDepth', 'nested elements')
  }
  return { limit, startElement, where, blemish: () => blemish }
}

function namespaceOf({ name, attributes }: Root): string | null {
  const prefix = name.includes(':') ? `xmlns:${name.split(':')[0]}` : 'xmlns'
  return attributes[prefix] || null
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1)
}

export function childrenOf(element: XmlElement | undefined, name: string): XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? []
}

export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find((child) => child.name === name)
}

/** The text of a child; of several the first that has one. */
export function childText(element: XmlElement | undefined, name: string): string | undefined {
  return element?.children.find((child) => child.name === name && child.text !== '')?.text
}
