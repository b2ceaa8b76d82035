import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  AdministratorRequest,
  Consent as ConsentShape,
  MailCredential as MailCredentialShape,
  MailProviders as MailProvidersShape,
  NewConsent,
  StartedConsent,
} from '../../../src/mail-credentials/shapes.ts'
import { request, type ApiResponse } from '../api.ts'

export type MailCredential = Static<typeof MailCredentialShape>
export type MailProvider = Static<typeof MailProvidersShape>['providers'][number]
export type AdministratorProvider = Static<typeof MailProvidersShape>['forAdministrators'][number]
export type NewAdministrator = Static<typeof AdministratorRequest>

const BASE = '/api/v1/imap'

export const mailCredentials = {
  start: async (body: Static<typeof NewConsent>) =>
    (
      await request<ApiResponse<Static<typeof StartedConsent>>>('POST', `${BASE}/oauth/consents`, {
        body,
      })
    ).data,
  /** Adds an administrator’s sign-in, or replaces the key of one. */
  save: async (id: string | null, body: NewAdministrator) =>
    (
      await request<ApiResponse<MailCredential>>(
        id === null ? 'POST' : 'PUT',
        id === null ? `${BASE}/credentials` : `${BASE}/credentials/${id}`,
        { body },
      )
    ).data,
  check: (id: string) => request('POST', `${BASE}/credentials/${id}/check`, { body: {} }),
  remove: (id: string) => request('DELETE', `${BASE}/credentials/${id}`),
}

export const mailProvidersQuery = queryOptions({
  queryKey: ['mail-providers'],
  queryFn: async () =>
    (
      await request<ApiResponse<Static<typeof MailProvidersShape>>>(
        'GET',
        `${BASE}/oauth/providers`,
      )
    ).data,
  staleTime: Infinity,
})

export const mailCredentialsQuery = queryOptions({
  queryKey: ['mail-credentials', 'list'],
  queryFn: async () =>
    (await request<ApiResponse<MailCredential[]>>('GET', `${BASE}/credentials`)).data,
})

/** A sign-in at a provider that was started here. */
export const mailConsentQuery = (id: string) =>
  queryOptions({
    queryKey: ['mail-credentials', 'consent', id],
    queryFn: async () =>
      (
        await request<ApiResponse<Static<typeof ConsentShape>>>(
          'GET',
          `${BASE}/oauth/consents/${id}`,
        )
      ).data,
  })
