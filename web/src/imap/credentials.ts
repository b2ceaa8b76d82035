import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  Consent as ConsentShape,
  MailCredential as MailCredentialShape,
  MailProviders as MailProvidersShape,
  NewConsent,
  StartedConsent,
} from '../../../src/mail-credentials/shapes.ts'
import { request, type ApiResponse } from '../api.ts'

export type MailCredential = Static<typeof MailCredentialShape>
export type MailProvider = Static<typeof MailProvidersShape>['providers'][number]

const BASE = '/api/v1/imap'

export const mailCredentials = {
  start: async (body: Static<typeof NewConsent>) =>
    (
      await request<ApiResponse<Static<typeof StartedConsent>>>('POST', `${BASE}/oauth/consents`, {
        body,
      })
    ).data,
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
