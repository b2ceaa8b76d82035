import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  contentFingerprint,
  messageIdOf,
} from '../../src/migration/engine/identify/message-fingerprint.ts'

const message = (body: string) => Buffer.from(`From: a@b\r\nSubject: x\r\n\r\n${body}`)

describe('identity of a message', () => {
  it('reads a Message-ID however it is written (25)', () => {
    for (const value of [
      '<a@b.example>',
      ' <a@B.example> (comment)',
      '\r\n <a@b.example>',
      '(x (y)) <a@b.example>',
      'a@b.example',
    ])
      expect(messageIdOf([value])).toBe('a@b.example')
    expect(messageIdOf(['<A@b>'])).not.toBe(messageIdOf(['<a@b>']))
    expect(messageIdOf(['<a\r\n b@c>'])).toBe('ab@c')
  })
  it('uses the first of two, and none of an empty one (25)', () => {
    expect(messageIdOf(['<a@b>', '<c@d>'])).toBe('a@b')
    expect(messageIdOf(['', ' <> ', '<c@d>'])).toBe('c@d')
    expect(messageIdOf(['', ' (nothing) '])).toBeNull()
    expect(messageIdOf([])).toBeNull()
  })
  it('survives whatever strangers write', () => {
    fc.assert(fc.property(fc.array(fc.string()), (values) => void messageIdOf(values)))
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void contentFingerprint(Buffer.from(bytes))))
  })
  it('distinguishes messages without Message-ID by their bodies (24)', () => {
    expect(contentFingerprint(message('one'))).not.toBe(contentFingerprint(message('two')))
  })
  it('recognizes a message with other line endings, folding, field order and added fields', () => {
    const one = Buffer.from('Subject: a\r\n b\r\nFrom: x@y\r\n\r\nbody\r\nmore\r\n')
    const other = Buffer.from('X-Added: z\nFROM: x@y\nSubject: a b\n\nbody\nmore\n')
    expect(contentFingerprint(one)).toBe(contentFingerprint(other))
  })
  it('recognizes a long message with other line endings', () => {
    const text = `Subject: a\n\n${'some words of a long line that goes on\n'.repeat(5_000)}`
    expect(contentFingerprint(Buffer.from(text))).toBe(
      contentFingerprint(Buffer.from(text.replaceAll('\n', '\r\n'))),
    )
  })
})
