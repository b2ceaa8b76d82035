import { shownCertificate } from './clients/client-certificate.ts'
import type { CredentialRow } from './mail-credentials.sql.ts'

/** Presents a credential for the API, without its tokens. */
export function shownCredential(row: CredentialRow) {
  const { id, provider, kind, account, clientId, problem, createdAt, keepUntil } = row
  const state: 'valid' | 'consent_needed' = problem === null ? 'valid' : 'consent_needed'
  const certificate = row.certificate === null ? null : shownCertificate(row.certificate)
  return {
    id,
    provider,
    kind,
    account,
    clientId,
    state,
    problem,
    certificate,
    createdAt,
    keepUntil,
  }
}
