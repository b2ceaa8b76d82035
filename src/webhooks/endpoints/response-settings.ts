import type { FaultDetail } from '../../errors.ts'
import { MAX_RESPONSE_BODY_BYTES } from '../limits.ts'

/** A media type (RFC 9110, 8.3.1) with parameters, without characters that would end the header. */
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w-]+=(?:"[^"\r\n]*"|[\w.+-]+))*$/
const MEDIA_TYPE_LENGTH = 127

type Named<T> = { body: T; type: T }

/**
 * Finds what is wrong with the body of a response and its media type.
 * @param names of both in the request
 */
export function findWrongBody(
  { body, type }: Partial<Named<string | undefined>>,
  names: Named<string>,
): FaultDetail[] {
  const details: FaultDetail[] = []
  if (type !== undefined && !(type.length <= MEDIA_TYPE_LENGTH && isMediaType(type))) {
    const message = 'must be a media type such as text/plain; charset=utf-8'
    details.push({ path: names.type, message })
  }
  if (body !== undefined && Buffer.byteLength(body) > MAX_RESPONSE_BODY_BYTES)
    details.push({ path: names.body, message: `must have up to ${MAX_RESPONSE_BODY_BYTES} bytes` })
  if (body?.includes('\u0000'))
    details.push({ path: names.body, message: 'must not have NUL characters' })
  return details
}

function isMediaType(text: string): boolean {
  // A header has one byte per character.
  return MEDIA_TYPE.test(text) && !/[^\u0020-\u007e]/.test(text)
}
