import { isUtf8 } from 'node:buffer'
import { endToEndHeaders } from '../../net/http/forward.ts'
import { EMAIL_METHOD } from '../email/endpoint-email.ts'
import { findHeader, type Header } from '../headers.ts'
import type { RequestRow } from './captured-request.ts'

/** Headers that curl sets itself. */
const SET_BY_CURL = new Set(['host', 'content-length'])

/** Headers that curl adds unless they are disabled. */
const ADDED_BY_CURL = ['User-Agent', 'Accept', 'Content-Type']

/** Bytes of one word of a command line. Linux accepts up to 128 KiB. */
const MAX_WORD_BYTES = 100_000

/** Characters that control a terminal when pasted, or that display as different text. */
const TERMINAL_CONTROLS =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd]/

/** In fish, but in no other shell, a backslash escapes these within single quotes. */
const FISH_ESCAPES = /\\(?:[\\']|$)/

/**
 * Formats a command for a POSIX shell that sends the request again. Content from strangers stays
 * within single quotes, and binary content is passed in base64, so that pasting it runs nothing but
 * curl.
 * @param url the endpoint’s URL
 * @returns null when the body is truncated, there was no valid request over HTTP, or curl cannot send it
 */
export function formatCurl(request: RequestRow, url: string): string | null {
  const { method, path, query, headers, body } = request
  if (request.bodySize > body.length || headers.length === 0) return null
  if (method === EMAIL_METHOD) return null
  // curl sends no HEAD with a body.
  if (method === 'HEAD' && body.length > 0) return null
  const words = ['curl', ...methodOf(method), '--globoff', '--path-as-is']
  words.push(shellWord(url + path + (query && `?${query}`)))
  for (const header of headersOf(headers)) words.push('-H', header)
  if (body.length === 0) return [...words, ...emptyBodyOf(method, headers)].join(' ')
  const text = body.toString('utf8')
  if (isUtf8(body) && isPlain(text) && body.length <= MAX_WORD_BYTES)
    return [...words, '--data-raw', quoted(text)].join(' ')
  return `printf %s '${body.toString('base64')}' | base64 -d | ${[...words, '--data-binary', '@-'].join(' ')}`
}

/** Without it curl sends no `Content-Length`, for which some servers answer 411. */
function emptyBodyOf(method: string, headers: Header[]): string[] {
  const declaresLength = findHeader(headers, 'content-length') !== undefined
  return declaresLength && method !== 'HEAD' ? ['--data-raw', "''"] : []
}

function methodOf(method: string): string[] {
  return method === 'HEAD' ? ['--head'] : ['-X', quoted(method)]
}

function headersOf(headers: Header[]): string[] {
  const sent = endToEndHeaders(headers).filter(([name]) => !SET_BY_CURL.has(name.toLowerCase()))
  const without = ADDED_BY_CURL.filter(
    (name) => !sent.some(([other]) => other.toLowerCase() === name.toLowerCase()),
  )
  // curl drops a header without a value unless it ends in a semicolon.
  return [
    ...sent.map(([name, value]) => shellWord(value === '' ? `${name};` : `${name}: ${value}`)),
    ...without.map((name) => quoted(`${name}:`)),
  ]
}

/** Quotes a text of one byte per character as a word of the shell. */
function shellWord(latin1: string): string {
  const bytes = Buffer.from(latin1, 'latin1')
  const text = bytes.toString('utf8')
  if (isUtf8(bytes) && isPlain(text)) return quoted(text)
  const octal = [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
  return `"$(printf '${octal}')"`
}

function isPlain(text: string): boolean {
  return !TERMINAL_CONTROLS.test(text) && !FISH_ESCAPES.test(text)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
