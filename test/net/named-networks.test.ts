import { describe, expect, it } from 'vitest'
import { addressesOf, followNames } from '../../src/net/named-networks.ts'
import { cidr } from '../../src/setting-values.ts'

describe('names among networks', () => {
  it('stand for their present addresses, and for none where they have none', async () => {
    const named = await followNames([cidr('192.0.2.0/24'), 'localhost', 'no.invalid'])
    named.stop()
    const texts = named.networks.map(([address, bits]) => `${address.toString()}/${bits}`)
    expect(texts).toEqual(expect.arrayContaining(['192.0.2.0/24', '127.0.0.1/32']))
    expect(texts.filter((text) => !/^(192.0.2.0|127|::1)/.test(text))).toEqual([])
  })

  it('keep their addresses while the resolver does not answer, and lose them with the name', async () => {
    const before = [cidr('192.0.2.7')]
    const failing = (code: string) => async () => {
      throw Object.assign(new Error(code), { code })
    }
    expect(await addressesOf('proxy', before, failing('EAI_AGAIN'))).toBe(before)
    expect(await addressesOf('proxy', before, failing('ENOTFOUND'))).toEqual([])
  })
})
