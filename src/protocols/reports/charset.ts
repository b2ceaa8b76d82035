import { StringDecoder } from 'node:string_decoder'

/**
 * The encoding of a text by its byte order mark, its zero bytes or its XML declaration; UTF-8 else.
 */
function charsetOf(head: Uint8Array): string {
  const [first, second] = head
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (second === 0 && first !== 0) return 'utf-16le'
  if (first === 0 && second !== 0) return 'utf-16be'
  const declared =
    /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(ascii(head))?.[1] ?? 'utf-8'
  // Who could read the declaration byte by byte cannot be reading UTF-16.
  return /^utf-?16/i.test(declared) || !isKnown(declared) ? 'utf-8' : declared
}

/** Decodes the start of a text in any encoding. An invalid byte becomes U+FFFD. */
export function decodeHead(head: Uint8Array): string {
  return new TextDecoder(charsetOf(head)).decode(head)
}

/** Bytes that an XML declaration and its encoding fit into. */
const MAX_DECLARATION_BYTES = 400

/**
 * Decodes a text as it streams in; bytes that are wrong become U+FFFD. A byte order mark may
 * remain.
 */
export async function* decodeText(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string> {
  let waiting: Uint8Array = new Uint8Array()
  let decode: Decode | undefined
  for await (const chunk of chunks) {
    waiting = waiting.length > 0 ? Buffer.concat([waiting, chunk]) : chunk
    if (!decode && waiting.length < MAX_DECLARATION_BYTES) continue
    decode ??= decoderOf(waiting)
    yield decode(waiting)
    waiting = new Uint8Array()
  }
  decode ??= decoderOf(waiting)
  yield decode(waiting) + decode(null)
}

/** Decodes one piece after the other; null is the end. */
type Decode = (bytes: Uint8Array | null) => string

function decoderOf(head: Uint8Array): Decode {
  const charset = charsetOf(head)
  if (/^utf-?8$/i.test(charset)) {
    // Its ASCII is one byte a character, which the XML parser reads twice as fast as TextDecoder's
    // two.
    const decoder = new StringDecoder('utf8')
    return (bytes) => (bytes ? decoder.write(bytes) : decoder.end())
  }
  const decoder = new TextDecoder(charset)
  return (bytes) => (bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode())
}

function ascii(head: Uint8Array): string {
  return Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, MAX_DECLARATION_BYTES))
    .toString('latin1')
    .replace(/^ï»¿/, '')
}

function isKnown(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== ''
  } catch {
    return false
  }
}
