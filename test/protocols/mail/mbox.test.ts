import { array, assert, asyncProperty, constantFrom, integer } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isMbox, splitMbox } from '../../../src/protocols/mail/mbox.ts'

const mail = (n: number) => `From a@b Sat Nov 21 06:00:00 2026\nSubject: ${n}\n\nbody ${n}\n\n`

function pieces(text: string, size: number): Uint8Array[] {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, (n + 1) * size),
  )
}

const split = async (text: string, size = 1_000, largest = 1_000) =>
  (await Array.fromAsync(splitMbox(pieces(text, size), largest))).map(String)

describe('an mbox', () => {
  it('is known by its first line', () => {
    expect(isMbox(Buffer.from('From a@b'))).toBe(true)
    expect(isMbox(Buffer.from('From: a@b'))).toBe(false)
  })
  it('gives its mails, wherever it is cut while it is read', async () => {
    const mails = [1, 2, 3].map(mail)
    for (const size of [1, 2, 7, 64, 1_000])
      expect(await split(mails.join(''), size)).toEqual(mails)
  })
  it('accepts CR LF, and does not treat “From ” within a message as a new one', async () => {
    const mails = ['From a\r\nX: y\r\n\r\none\r\nFrom here on\r\n\r\n', 'From b\r\n\r\ntwo\r\n']
    expect(await split(mails.join(''))).toEqual(mails)
  })
  it('truncates a message that is too large and continues with the next', async () => {
    const large = `From a\n\n${'x'.repeat(5_000)}\n\n`
    for (const size of [3, 100, 10_000]) {
      expect(await split(large + mail(2), size, 200)).toEqual([large.slice(0, 200), mail(2)])
    }
  })
  it('loses nothing of anything', async () => {
    await assert(
      asyncProperty(
        array(constantFrom('From ', '\n', '\r\n', 'x', '>From ')),
        integer({ min: 1, max: 9 }),
        async (words, size) => {
          expect((await split(words.join(''), size)).join('')).toBe(words.join(''))
        },
      ),
    )
  })
})
