import { decrypt, encrypt } from '../../store/encryption.ts'
import type { ClientCertificate } from '../clients/client-certificate.ts'
import { credentialContext } from '../access-tokens.ts'
import type { ServiceAccount } from './service-account.ts'

/** An application that Microsoft Entra lets open the mailboxes of one tenant, by a secret or certificate. */
type MailApp = { tenant: string; clientId: string } & (
  | { clientSecret: string; clientCertificate?: undefined }
  | { clientCertificate: ClientCertificate; clientSecret?: undefined }
)

/** What an administrator’s credential consists of. */
export type AdministratorSecret =
  | { kind: 'service_account'; account: ServiceAccount }
  | { kind: 'app'; app: MailApp }

export function encryptAdministrator(
  secret: AdministratorSecret,
  secretKey: string,
  id: string,
): string {
  return encrypt(JSON.stringify(secret), secretKey, credentialContext(id))
}

/** @throws Fault `internal` when it was encrypted with another key */
export function decryptAdministrator(
  sealed: string,
  secretKey: string,
  id: string,
): AdministratorSecret {
  return JSON.parse(decrypt(sealed, secretKey, credentialContext(id))) as AdministratorSecret
}
