import { describe, expect, it } from 'vitest'
import { accountOf, secretOf, wrongAccount, wrongSecret } from '../../web/src/imap/account.ts'

const TYPED = {
  host: ' imap.example.com ',
  user: ' alice ',
  security: 'tls',
  port: '',
  tlsVerify: 'on',
}

describe('credentials of a mailbox', () => {
  it('is read with the usual port, and with the password as it stands', () => {
    expect(accountOf({ ...TYPED, password: ' with spaces ' })).toEqual({
      host: 'imap.example.com',
      port: 993,
      secure: true,
      user: 'alice',
      tlsVerify: true,
      password: ' with spaces ',
    })
    expect(accountOf({ ...TYPED, security: 'starttls', password: 'x' })).toMatchObject({
      port: 143,
      secure: false,
    })
  })

  it('has an access token in place of the password, without the line break it was copied with', () => {
    const account = accountOf({ ...TYPED, accessToken: 'ya29.a0\n' })
    expect(account).toMatchObject({ accessToken: 'ya29.a0' })
    expect(account).not.toHaveProperty('password')
  })

  it('has a sign-in at the provider in place of both', () => {
    const account = accountOf({ ...TYPED, credentialId: 'id' })
    expect(account).toMatchObject({ credentialId: 'id' })
    expect(account).not.toHaveProperty('password')
    expect(wrongAccount({ ...TYPED, credentialId: 'id' })).toEqual({})
  })

  it('names missing fields', () => {
    expect(Object.keys(wrongAccount({ security: 'tls', password: '', port: '70000' }))).toEqual([
      'host',
      'user',
      'password',
      'port',
    ])
    expect(wrongAccount({ ...TYPED, accessToken: ' ' })).toEqual({
      accessToken: 'Enter the access token.',
    })
  })

  it('separates the secrets of two accounts in one form', () => {
    const typed = { 'source.password': 'old', 'destination.accessToken': '' }
    expect(secretOf(typed, 'source.')).toEqual({ password: 'old' })
    expect(wrongSecret(typed, 'source.')).toEqual({})
    expect(wrongSecret(typed, 'destination.')).toEqual({
      'destination.accessToken': 'Enter the access token.',
    })
  })
})
