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

/** Children of the root to read; the rest is skipped. */
type Wanted = {
  fields: ReadonlySet<string>
  /** Those with children of their own: never in one another, nor in anything but the root. */
  sections: ReadonlySet<string>
}

export type WantedSection = Wanted & {
  root: string
  /** Finds its start in a text. */
  start: RegExp
}

export function wanted(root: string, fields: string[], sections: string[]): WantedSection {
  return {
    root,
    start: new RegExp(String.raw`<(?:[\w.-]{1,40}:)?${root}[\s/>]`),
    fields: new Set(fields),
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

/** The documents of a file, one behind the other. */
export type XmlDocuments = {
  /**
   * Finds the next root, past whatever stands before it. After a document that could not be read to
   * its end there is none.
   * @throws Fault `invalid_request`: the file has no root at all, or a DOCTYPE before one
   */
  findNext(): Promise<boolean>
  /**
   * Reads the children of the root one by one, so that memory contains one of them, for any size of
   * the document. Skips errors within it. Expands only XML’s own five entities and numeric ones.
   * @throws Fault `invalid_request`, `too_large`: any DOCTYPE, beyond a limit, or truncated
   */
  read(onSection: (section: XmlElement) => void | Promise<void>): Promise<Read>
  close(): Promise<void>
}

/** Opens a file of XML. What follows a root is read only for the next one. */
export function openDocuments(
  xml: AsyncIterable<Uint8Array> | Uint8Array,
  { root, start, ...children }: WantedSection,
): XmlDocuments {
  const texts = withMarkedAmpersands(decodeText(slices(xml)))
  /** What is read but not parsed yet, and the line on which it begins. */
  let rest = ''
  let line = 1
  let state: 'between' | 'found' | 'broken' = 'between'
  let isFirst = true

  async function findNext(): Promise<boolean> {
    if (state !== 'between') return false
    state = 'broken'
    while (rest.search(start) < 0 && rest.length <= REPORT_LIMITS.head) {
      const text = await nextText()
      if (text === null) break
      rest += text
    }
    const at = rest.search(start)
    const before = at < 0 ? rest : rest.slice(0, at)
    if ((isFirst || at >= 0) && /<!(?:DOCTYPE|ENTITY)/i.test(before)) refuseDoctype()
    if (isFirst && at < 0) throw new Fault('invalid_request', `The <${root}> element is missing.`)
    line += before.split('\n').length - 1
    rest = rest.slice(before.length)
    isFirst = false
    state = at < 0 ? 'broken' : 'found'
    return at >= 0
  }

  async function read(onSection: (section: XmlElement) => void | Promise<void>): Promise<Read> {
    state = 'broken'
    const ready: XmlElement[] = []
    const reader = createReader(children, line, (section) => ready.push(section))
    for (let text: string | null = rest; text !== null; text = await nextText()) {
      rest = reader.write(text)
      for (const section of ready) {
        const done = onSection(section)
        if (done) await done
      }
      ready.length = 0
      if (reader.isComplete()) {
        state = 'between'
        line = reader.line()
        return reader.read()
      }
      await setImmediate()
    }
    throw new Fault('invalid_request', `The XML is truncated at ${reader.where()}.`)
  }

  async function nextText(): Promise<string | null> {
    const { done, value } = await texts.next()
    return done ? null : value
  }

  return { findNext, read, close: async () => void (await texts.return(undefined)) }
}

async function* slices(bytes: AsyncIterable<Uint8Array> | Uint8Array): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes instanceof Uint8Array ? [bytes] : bytes) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES)
      yield chunk.subarray(at, at + SLICE_BYTES)
  }
}

/**
 * Marks each ampersand that begins no entity: behind one, the parser would take all up to the next
 * semicolon for its name. In a CDATA section, an ampersand is only text (XML 1.0, 2.7), so it is
 * not escaped. A character that is reserved for such use inside of programs stands for it.
 */
async function* withMarkedAmpersands(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let held = ''
  for await (const piece of texts) {
    const text = held + piece
    const last = text.indexOf('&', text.length - MAX_ENTITY_CHARACTERS)
    held = last < 0 ? '' : text.slice(last)
    yield markAmpersands(text.slice(0, text.length - held.length))
  }
  yield markAmpersands(held)
}

function markAmpersands(text: string): string {
  return text.includes('&') ? text.replaceAll(LONE_AMPERSAND, AMPERSAND_MARK) : text
}

const LONE_AMPERSAND = /&(?!#?\w{1,31};)/g
const AMPERSAND_MARK = '\ufdd0'
const MAX_ENTITY_CHARACTERS = 34

function refuseDoctype(): never {
  throw new Fault('invalid_request', 'The XML has a DOCTYPE, which is not allowed.')
}

type Root = { name: string; attributes: Record<string, string> }

type Reader = {
  /** @returns what follows the root in the text */
  write(text: string): string
  /** The root is closed. */
  isComplete(): boolean
  line(): number
  /** Line and column. */
  where(): string
  read(): Read
}

type Internals = { name: string; text: string; tags: { name: string }[]; closeTag(): void }
const internals = SaxesParser.prototype as unknown as Internals

/** The end tag that is being read: whatever else it ends has no end of its own. */
let ending = ''

/**
 * Skips the end of an element that is not open. The parser would close all that are open, the root
 * too, so that a stray tag would cost the rest of the report.
 */
class ReportParser extends SaxesParser {}
Object.defineProperty(ReportParser.prototype, 'closeTag', {
  value(this: Internals) {
    const { name, tags, text } = this
    ending = name
    if (tags.some((tag) => tag.name === name)) return internals.closeTag.call(this)
    // An end without a name is an error that changes nothing but the text.
    this.name = ''
    internals.closeTag.call(this)
    this.text = text
  },
})

/** Ends the parser at the end of the root: what follows is none of the document. */
const ROOT_CLOSED = new Error('The root is closed.')

function createReader(
  { fields, sections }: Wanted,
  firstLine: number,
  onSection: (section: XmlElement) => void,
): Reader {
  // With an eighth handler V8 makes the parser a dictionary, and it is five times slower.
  const parser = new ReportParser({ position: false })
  parser.line = firstLine
  const { limit, startElement, where, blemish } = watch(parser)
  /** The section being read and the elements open within it. */
  const open: XmlElement[] = []
  let depth = 0
  let elements = 0
  /** Sections in an element between them, which count if that never ends. */
  let misplaced: XmlElement[] = []
  let misplacedElements = 0
  let isMisplaced = false
  let root: Root | undefined
  let isComplete = false
  /** Characters since the last tag or text, which the parser keeps in memory. */
  let kept = 0
  /** Characters before the text that is being parsed. */
  let written = 0

  parser.on('opentag', (tag) => {
    kept = 0
    root ??= { name: tag.name, attributes: tag.attributes }
    startElement(++depth)
    const name = localName(tag.name)
    const parent = open.at(-1)
    if (!parent && !sections.has(name) && !(depth === 2 && fields.has(name))) return
    elements = parent ? elements + 1 : 0
    limit(elements, 'elements', 'elements in one record')
    isMisplaced = parent ? isMisplaced : depth > 2
    if (isMisplaced)
      limit(++misplacedElements, 'misplaced', 'elements of records that are not where they belong')
    const element = { name, text: '', children: [] }
    parent?.children.push(element)
    open.push(element)
  })
  /** Without an end of its own, an element has swallowed the sections behind it. */
  const finish = (section: XmlElement, hasEnd: boolean) => {
    const found = hasEnd ? [section] : divide(section, sections)
    if (depth === 2) return found.forEach(onSection)
    misplaced.push(...found)
  }
  const onText = (text: string) => {
    kept = 0
    const element = open.at(-1)
    // Between elements there is nothing but blanks.
    if (!element || element.children.length > 0 || element.text.length >= REPORT_LIMITS.text) return
    element.text += text.slice(0, REPORT_LIMITS.text)
  }
  parser.on('text', onText)
  parser.on('cdata', onText)
  parser.on('closetag', ({ name, isSelfClosing }) => {
    kept = 0
    const element = open.pop()
    const hasEnd = isSelfClosing || name === ending
    if (element) element.text = readable(element.text, blemish() !== null)
    if (element && open.length === 0) finish(element, hasEnd)
    if (depth === 2 && misplaced.length > 0) {
      if (!hasEnd) misplaced.forEach(onSection)
      misplaced = []
      misplacedElements = 0
    }
    isComplete = --depth === 0
    if (isComplete) throw ROOT_CLOSED
  })
  return {
    write: (text) => {
      try {
        parser.write(text)
      } catch (error) {
        if (error !== ROOT_CLOSED) throw error
        return text.slice(parser.position - written)
      }
      written += text.length
      kept += text.length
      limit(kept, 'piece', 'characters without a tag')
      return ''
    },
    isComplete: () => isComplete,
    line: () => parser.line,
    where,
    read: () => ({ namespace: root ? namespaceOf(root) : null, blemish: blemish() }),
  }
}

/** A section, and those within it, in their order. */
function divide(section: XmlElement, sections: ReadonlySet<string>): XmlElement[] {
  const found: XmlElement[] = []
  const take = (element: XmlElement) => {
    const [own, others] = [[], []] as [XmlElement[], XmlElement[]]
    for (const child of element.children) (sections.has(child.name) ? others : own).push(child)
    element.children = own
    own.forEach(take)
    found.push(...others.flatMap((other) => divide(other, sections)))
  }
  take(section)
  return [section, ...found]
}

function readable(text: string, isBlemished: boolean): string {
  const whole = text.includes(AMPERSAND_MARK) ? text.replaceAll(AMPERSAND_MARK, '&') : text
  return (isBlemished ? printable(whole) : whole).trim()
}

type Limit = 'piece' | 'elementDepth' | 'elements' | 'misplaced' | 'attributes'

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
    const what = message.replace(/\.+$/, '').replace('weird empty', 'unexpected')
    blemish ??= `not well-formed at ${where()}: ${what}`
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
