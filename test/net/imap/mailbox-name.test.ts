import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyText } from '../../any-text.ts'
import {
  decodeMailbox,
  encodeMailbox,
  isSendable,
} from '../../../src/net/imap/folders/mailbox-name.ts'

function readsBack(path: string): void {
  const listed = encodeMailbox(path)
  expect(listed).toMatch(/^[\x20-\x7e]*$/)
  expect(decodeMailbox(listed)).toBe(path)
}

describe('names of mailboxes', () => {
  it.each([
    ['Løbende', 'L&APg-bende'],
    ['Entwürfe/日本語', 'Entw&APw-rfe/&ZeVnLIqe-'],
    ['A & B', 'A &- B'],
    ['😀', '&2D3eAA-'],
  ])('%s is %s on the wire', (path, listed) => {
    expect(encodeMailbox(path)).toBe(listed)
    expect(decodeMailbox(listed)).toBe(path)
  })

  it('keeps invalid modified UTF-7 unchanged, and reads raw UTF-8', () => {
    expect(['bad&', '&AAA', '&2D0-', '&AGE-'].map(decodeMailbox)).toEqual([
      'bad&',
      '&AAA',
      '&2D0-',
      'a',
    ])
    expect(decodeMailbox(Buffer.from('Größe').toString('latin1'))).toBe('Größe')
  })

  it('reads back every name it writes', () => {
    fc.assert(fc.property(anyText(), readsBack))
  })

  it('sends no line breaks and no NUL', () => {
    expect(['a\r', 'a\nb', '\0', 'ok "\\'].map(isSendable)).toEqual([false, false, false, true])
  })
})
