import { createSigningKey, type SigningKey } from '../../protocols/http-signature.ts'

/** This installation as its peers know it. */
export type Identity = {
  /** The URL of its attack-reporting endpoints, without a slash at its end. */
  url: string
  key: SigningKey
}

/** @param seed 32 bytes in base64url */
export function createIdentity(url: string, seed: string): Identity {
  return { url, key: createSigningKey(seed) }
}
