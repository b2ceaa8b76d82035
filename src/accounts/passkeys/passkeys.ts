import { isIP } from 'node:net'
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import type { DB } from '../../store/tables.ts'
import { MINUTE_MS } from '../../time.ts'
import { openSealed, sealUntil } from '../secrets/sealed.ts'
import { claimSecret } from '../secrets/secrets.sql.ts'
import {
  findPasskey,
  insertPasskey,
  listCredentialIds,
  listPasskeys,
  markPasskeyUsed,
  type PasskeyCredential,
  type PasskeyRow,
} from './passkeys.sql.ts'

const CHALLENGE_LIFETIME_MS = 5 * MINUTE_MS
const MAX_PASSKEYS = 20

const EXPIRED = 'The request for a passkey has expired. Try again.'

/** What a browser continues with: options for its WebAuthn call, and our sealed challenge. */
export type Ceremony<Options> = { options: Options; state: string }

type Challenge = { challenge: string; accountId: string | null }

export type Passkeys = ReturnType<typeof createPasskeys>

export type PasskeysOptions = {
  db: Kysely<DB>
  secretKey: string
  baseUrl: string
  /** Origins of the dashboard. */
  origins: string[]
}

/**
 * Whether browsers offer passkeys at this address: they need a host name, and https or localhost
 * (W3C Web Authentication, secure contexts).
 */
export function supportsPasskeys(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl)
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return true
  return protocol === 'https:' && isIP(hostname.replace(/^\[|\]$/g, '')) === 0
}

/**
 * Registers passkeys and verifies them. User verification (a PIN or biometrics) is always required,
 * so that a passkey alone is two factors.
 */
export function createPasskeys({ db, secretKey, baseUrl, origins }: PasskeysOptions) {
  const rpID = new URL(baseUrl).hostname
  const sealing = (context: string) => ({ secretKey, context: `passkey ${context}` })

  function seal(challenge: Challenge, context: string): string {
    return sealUntil(challenge, { ...sealing(context), lifetimeMs: CHALLENGE_LIFETIME_MS })
  }

  /** A challenge is answered once: a recorded answer opens nothing. */
  async function useChallenge(state: string, context: string): Promise<Challenge> {
    const opened = openSealed(state, { ...sealing(context), message: EXPIRED }) as Challenge
    const isFirst = await claimSecret(
      db,
      'passkey',
      opened.challenge,
      CHALLENGE_LIFETIME_MS / 1_000,
    )
    if (!isFirst) throw new Fault('forbidden', EXPIRED)
    return opened
  }

  return {
    /** Starts the registration of a passkey. */
    async startRegistration(account: {
      id: string
      email: string
      name: string
    }): Promise<Ceremony<PublicKeyCredentialCreationOptionsJSON>> {
      requireSupport(baseUrl)
      const known = await listCredentialIds(db, account.id)
      if (known.length >= MAX_PASSKEYS)
        throw new Fault('conflict', `An account can have up to ${MAX_PASSKEYS} passkeys.`)
      const { generateRegistrationOptions } = await import('@simplewebauthn/server')
      const options = await generateRegistrationOptions({
        rpName: 'Portreeve',
        rpID,
        userID: new Uint8Array(Buffer.from(account.id)),
        userName: account.email,
        userDisplayName: account.name || account.email,
        attestationType: 'none',
        excludeCredentials: known.map(({ credentialId: id, transports }) => ({
          id,
          transports: transports as AuthenticatorTransport[],
        })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      })
      return {
        options,
        state: seal({ challenge: options.challenge, accountId: account.id }, 'registration'),
      }
    },

    /**
     * Stores a passkey.
     * @throws Fault `forbidden` when the answer is not right, `conflict` when it is registered
     */
    async finishRegistration(
      accountId: string,
      { state, name, response }: { state: string; name: string; response: object },
    ): Promise<PasskeyRow> {
      const expected = await useChallenge(state, 'registration')
      if (expected.accountId !== accountId) throw new Fault('forbidden', EXPIRED)
      const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: response as RegistrationResponseJSON,
        expectedChallenge: expected.challenge,
        expectedOrigin: origins,
        expectedRPID: rpID,
        requireUserVerification: true,
      }).catch(refuse)
      if (!verified) throw refuse()
      const { credential, credentialBackedUp } = registrationInfo
      const row = await insertPasskey(db, {
        accountId,
        name,
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey),
        counter: credential.counter,
        transports: credential.transports ?? [],
        isBackedUp: credentialBackedUp,
      })
      if (!row) throw new Fault('conflict', 'This passkey is already registered.')
      return row
    },

    /** Starts a sign-in. The browser offers the passkeys it has, so no account is named. */
    async startSignIn(): Promise<Ceremony<PublicKeyCredentialRequestOptionsJSON>> {
      requireSupport(baseUrl)
      const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
      const options = await generateAuthenticationOptions({ rpID, userVerification: 'required' })
      const state = seal({ challenge: options.challenge, accountId: null }, 'sign-in')
      return { options, state }
    },

    /**
     * Verifies the answer of a browser.
     * @returns the passkey with its account
     * @throws Fault `forbidden`
     */
    async finishSignIn({
      state,
      response,
    }: {
      state: string
      response: object
    }): Promise<PasskeyCredential> {
      const { id } = response as AuthenticationResponseJSON
      const passkey = typeof id === 'string' ? await findPasskey(db, id) : undefined
      if (!passkey)
        throw new Fault('forbidden', 'This passkey is not registered here, or was removed.')
      const { challenge } = await useChallenge(state, 'sign-in')
      const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: response as AuthenticationResponseJSON,
        expectedChallenge: challenge,
        expectedOrigin: origins,
        expectedRPID: rpID,
        credential: {
          id: passkey.credentialId,
          publicKey: new Uint8Array(passkey.publicKey),
          counter: passkey.counter,
        },
        requireUserVerification: true,
      }).catch(refuse)
      if (!verified) throw refuse()
      await markPasskeyUsed(db, passkey.id, authenticationInfo.newCounter)
      return passkey
    },

    list: (accountId: string) => listPasskeys(db, accountId),
  }
}

function requireSupport(baseUrl: string): void {
  if (supportsPasskeys(baseUrl)) return
  throw new Fault(
    'conflict',
    'Passkeys need https and a host name in BASE_URL, or localhost. This service has neither.',
  )
}

function refuse(cause?: unknown): never {
  throw new Fault(
    'forbidden',
    'The passkey could not be verified. It must belong to this service and ask for a PIN or biometrics.',
    { cause },
  )
}
