/** What a reader of an HTML text sees, and what it links to. Nothing of it is fetched. */
export type HtmlContent = {
  /** Visible text, white space joined. */
  text: string
  /** Text that styles hide, white space joined. */
  hiddenText: string
  links: HtmlLink[]
  /** Sources of images. */
  images: string[]
  /** Names of active elements: `script`, `form`, `iframe` and so on. */
  activeElements: string[]
}

/** `href` as written; `text` is what the reader sees. */
type HtmlLink = { href: string; text: string }

/** Elements that open and close at once. */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))
const INVISIBLE = new Set(['head', 'style', 'script', 'title', 'template', 'noscript'])
const RAW = new Set(['style', 'script', 'title', 'textarea'])
const ACTIVE = new Set(['script', 'form', 'iframe', 'object', 'embed', 'applet', 'video', 'audio'])

const MAX_LINKS = 500
const MAX_IMAGES = 500
const MAX_OPEN_ELEMENTS = 500

/** What hides an element: `font-size`, `visibility` and `color` end where an element within sets them. */
type Hiding = { isRemoved: boolean; isZeroSize: boolean; isUnseen: boolean; isColorless: boolean }

const SHOWN: Hiding = { isRemoved: false, isZeroSize: false, isUnseen: false, isColorless: false }

type Open = { name: string; hiding: Hiding; isInvisible: boolean; link: HtmlLink | null }

/** Reads an HTML text in one pass, in linear time for any text. Never throws. */
export function readHtml(html: string): HtmlContent {
  const text: string[] = []
  const hidden: string[] = []
  const links: HtmlLink[] = []
  const images: string[] = []
  const active = new Set<string>()
  const open: Open[] = []

  function addText(piece: string): void {
    const current = open.at(-1)
    if (current?.isInvisible) return
    const decoded = decodeEntities(piece)
    if (current?.link && current.link.text.length < 300) current.link.text += decoded
    const isHidden = Object.values(current?.hiding ?? SHOWN).includes(true)
    ;(isHidden ? hidden : text).push(decoded)
  }

  function openElement(tag: Tag): void {
    const { name, attributes } = tag
    const parent = open.at(-1)
    if (ACTIVE.has(name)) active.add(name)
    const source = attributes.get('src')
    if (name === 'img' && source && images.length < MAX_IMAGES) images.push(source)
    const href = attributes.get('href')
    let link = parent?.link ?? null
    if ((name === 'a' || name === 'area') && href && links.length < MAX_LINKS) {
      link = { href: decodeEntities(href).trim(), text: '' }
      links.push(link)
    }
    if (name === 'br' || BLOCKS.has(name)) addText(' ')
    if (VOID.has(name) || tag.isSelfClosing || open.length >= MAX_OPEN_ELEMENTS) return
    open.push({
      name,
      link,
      hiding: readHiding(attributes, parent?.hiding ?? SHOWN),
      isInvisible: (parent?.isInvisible ?? false) || INVISIBLE.has(name),
    })
  }

  function closeElement(name: string): void {
    // Only near elements, so that unbalanced ones cost little.
    const at = open.findLastIndex((element) => element.name === name)
    if (at >= 0) open.length = at
    if (BLOCKS.has(name)) addText(' ')
  }

  for (let at = 0; at < html.length;) {
    const start = html.indexOf('<', at)
    if (start < 0) {
      addText(html.slice(at))
      break
    }
    if (start > at) addText(html.slice(at, start))
    if (html.startsWith('<!--', start)) {
      const end = html.indexOf('-->', start + 4)
      at = end < 0 ? html.length : end + 3
      continue
    }
    const tag = readTag(html, start)
    if (tag === null) {
      addText('<')
      at = start + 1
      continue
    }
    at = tag.end
    if (tag.isClosing) closeElement(tag.name)
    else {
      openElement(tag)
      if (RAW.has(tag.name) && !tag.isSelfClosing) at = endOfRaw(html, tag)
    }
  }
  return {
    text: joinSpace(text.join('')),
    hiddenText: joinSpace(hidden.join('')),
    links: links.map((link) => ({ ...link, text: joinSpace(link.text) })),
    images,
    activeElements: [...active],
  }
}

const BLOCKS = new Set(
  'p div td th tr table li ul ol h1 h2 h3 h4 h5 h6 section article header footer'.split(' '),
)

/** The content of such an element is no markup. */
function endOfRaw(html: string, tag: Tag): number {
  const pattern = new RegExp(`</${tag.name}`, 'gi')
  pattern.lastIndex = tag.end
  return pattern.exec(html)?.index ?? html.length
}

type Tag = {
  name: string
  attributes: Map<string, string>
  isClosing: boolean
  isSelfClosing: boolean
  end: number
}

/** The longest tag; images in attributes are long. */
const MAX_TAG_CHARACTERS = 100_000
const MAX_ATTRIBUTES = 60

/** Reads the tag that begins at `<`; null where that is text. */
function readTag(html: string, start: number): Tag | null {
  const isClosing = html[start + 1] === '/'
  const isOther = html[start + 1] === '!' || html[start + 1] === '?'
  const pattern = /[a-z][a-z\d:-]{0,40}/iy
  pattern.lastIndex = start + (isClosing ? 2 : 1)
  const name = isOther ? '' : pattern.exec(html)?.[0].toLowerCase()
  if (name === undefined) return null
  const attributes = new Map<string, string>()
  let at = start + (isClosing ? 2 : 1) + name.length
  const limit = Math.min(html.length, start + MAX_TAG_CHARACTERS)
  const attribute = /[\s/]*([^\s"'<>/=]{1,200})(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+)))?/y
  while (at < limit && html[at] !== '>') {
    attribute.lastIndex = at
    const found = attribute.exec(html)
    if (!found) {
      at++
      continue
    }
    const key = (found[1] ?? '').toLowerCase()
    const value = found[2] ?? found[3] ?? found[4] ?? ''
    if (attributes.size < MAX_ATTRIBUTES && !attributes.has(key)) attributes.set(key, value)
    at = attribute.lastIndex
  }
  return { name, attributes, isClosing, isSelfClosing: html[at - 1] === '/', end: at + 1 }
}

/**
 * How inline styles hide an element from its reader. Layouts of MJML set `font-size:0` on a cell and
 * a size on the text within.
 */
function readHiding(attributes: Map<string, string>, outer: Hiding): Hiding {
  const isRemoved = outer.isRemoved || attributes.has('hidden')
  const text = attributes.get('style')
  if (text === undefined) return isRemoved === outer.isRemoved ? outer : { ...outer, isRemoved }
  const style = new Map(
    text.split(';').flatMap((rule) => {
      const colon = rule.indexOf(':')
      if (colon < 0) return []
      const value = rule.slice(colon + 1).replace(/!important/i, '')
      return [[rule.slice(0, colon).trim().toLowerCase(), value.trim().toLowerCase()] as const]
    }),
  )
  const color = style.get('color')
  const background = style.get('background-color') ?? style.get('background')
  return {
    isRemoved:
      isRemoved ||
      style.get('display') === 'none' ||
      /^0(?:\.0+)?$/.test(style.get('opacity') ?? ''),
    isZeroSize: isZeroSize(style.get('font-size'), outer.isZeroSize),
    isUnseen: overrides(style.get('visibility'), (value) => value === 'hidden', outer.isUnseen),
    isColorless: overrides(color, (value) => value === background, outer.isColorless),
  }
}

function overrides(
  value: string | undefined,
  hides: (value: string) => boolean,
  outer: boolean,
): boolean {
  return value === undefined || value === 'inherit' ? outer : hides(value)
}

/** A size relative to nothing is nothing. */
function isZeroSize(size: string | undefined, outer: boolean): boolean {
  if (size === undefined || (outer && /(?:[^r]em|%|^inherit)$/.test(size))) return outer
  return /^0(?:\.0+)?(?:px|pt|em|rem|%)?$/.test(size)
}

const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: '’',
  nbsp: ' ',
  zwnj: '',
  shy: '',
}

function decodeEntities(text: string): string {
  return text.replaceAll(/&(#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});/gi, (entity, name: string) => {
    if (!name.startsWith('#')) return ENTITIES[name.toLowerCase()] ?? entity
    const code = /^#x/i.test(name)
      ? Number.parseInt(name.slice(2), 16)
      : Number.parseInt(name.slice(1), 10)
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : ' '
  })
}

/** Joins white space; invisible characters that fill preheaders are dropped. */
function joinSpace(text: string): string {
  return text
    .replaceAll(/[\u034F\u200B-\u200D\u2060\uFEFF]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
