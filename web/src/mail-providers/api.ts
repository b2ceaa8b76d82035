import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  ClientChange,
  MailClient as MailClientShape,
  MailClients as MailClientsShape,
} from '../../../src/mail-credentials/clients/shapes.ts'
import { request, type ApiResponse } from '../api.ts'

export type MailClient = Static<typeof MailClientShape>

const BASE = '/api/v1/imap/oauth/clients'

export const mailClients = {
  set: (provider: MailClient['provider'], body: Static<typeof ClientChange>) =>
    request('PUT', `${BASE}/${provider}`, { body }),
  remove: (provider: MailClient['provider']) => request('DELETE', `${BASE}/${provider}`),
}

export const mailClientsQuery = queryOptions({
  queryKey: ['mail-providers', 'clients'],
  queryFn: async () =>
    (await request<ApiResponse<Static<typeof MailClientsShape>>>('GET', BASE)).data,
})
