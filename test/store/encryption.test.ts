import { assert, base64String, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encrypt, decrypt } from '../../src/store/encryption.ts'
import { anyText } from '../any-text.ts'

const KEY = 'a key of at least thirty-two bytes, made for this test'

describe('sealed texts', () => {
  it('decrypt to the original text, whatever it was', () => {
    assert(
      property(anyText(), string(), (text, context) => {
        expect(decrypt(encrypt(text, KEY, context), KEY, context)).toBe(text)
      }),
    )
  })

  it('differ each time, and never contain the text', () => {
    const [one, two] = [encrypt('hunter2', KEY, 'row/1'), encrypt('hunter2', KEY, 'row/1')]
    expect(one).not.toBe(two)
    expect(Buffer.from(one.slice(3), 'base64url').includes('hunter2')).toBe(false)
  })

  it('do not open under another key, in another place, or changed by one bit', () => {
    const sealed = encrypt('hunter2', KEY, 'row/1')
    expect(() => decrypt(sealed, `${KEY}!`, 'row/1')).toThrow('SECRET_KEY')
    expect(() => decrypt(sealed, KEY, 'row/2')).toThrow('SECRET_KEY')
    const bytes = Buffer.from(sealed.slice(3), 'base64url')
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes)
      changed[index]! ^= 1
      expect(() => decrypt(`v1.${changed.toString('base64url')}`, KEY, 'row/1')).toThrow(
        'SECRET_KEY',
      )
    }
  })

  it('are rejected with the same error when they are no encrypted text', () => {
    assert(property(string(), expectRefused))
    assert(property(base64String(), (text) => expectRefused(`v1.${text}`)))
  })
})

function expectRefused(text: string): void {
  expect(() => decrypt(text, KEY, 'row/1')).toThrow('SECRET_KEY')
}
