import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  Invitation as InvitationShape,
  InvitationPreview as PreviewShape,
  IssuedInvitation as IssuedInvitationShape,
  Member as MemberShape,
  Workspace as WorkspaceShape,
} from '../../../src/accounts/workspaces/shapes.ts'
import type { AuditPage } from '../../../src/accounts/shapes.ts'
import type { AuditFilter } from '../administration/api.ts'
import { searchOf } from '../search.ts'
import { request, type ApiResponse } from '../api.ts'
import type { Role } from '../api.ts'

export type Workspace = Static<typeof WorkspaceShape>
export type Member = Static<typeof MemberShape>
export type Invitation = Static<typeof InvitationShape>
export type IssuedInvitation = Static<typeof IssuedInvitationShape>
export type InvitationPreview = Static<typeof PreviewShape>

const BASE = '/api/v1/workspaces'
const INVITATIONS = '/api/v1/invitations'

const get = async <T>(path: string) => (await request<ApiResponse<T>>('GET', path)).data
const post = async <T>(path: string, body: object) =>
  (await request<ApiResponse<T>>('POST', path, { body })).data

export const workspaces = {
  list: () => get<Workspace[]>(BASE),
  create: (name: string) => post<Workspace>(BASE, { name }),
  rename: (id: string, name: string) =>
    request<unknown>('PATCH', `${BASE}/${id}`, { body: { name } }),
  remove: (id: string, name: string) =>
    request<unknown>('DELETE', `${BASE}/${id}`, { body: { name } }),
  restore: (id: string) => request<unknown>('POST', `${BASE}/${id}/restore`, { body: {} }),
  members: (id: string) => get<Member[]>(`${BASE}/${id}/members`),
  changeRole: (id: string, accountId: string, role: Role) =>
    request<unknown>('PATCH', `${BASE}/${id}/members/${accountId}`, { body: { role } }),
  /** Removes a member; the signed-in account itself leaves. */
  removeMember: (id: string, accountId: string) =>
    request<unknown>('DELETE', `${BASE}/${id}/members/${accountId}`),
  invitations: (id: string) => get<Invitation[]>(`${BASE}/${id}/invitations`),
  /** @param email empty for a link that anybody can use once */
  invite: (id: string, role: Role, email: string) =>
    post<IssuedInvitation>(`${BASE}/${id}/invitations`, { role, ...(email && { email }) }),
  revokeInvitation: (id: string, invitationId: string) =>
    request<unknown>('DELETE', `${BASE}/${id}/invitations/${invitationId}`),
  previewInvitation: (token: string) =>
    post<InvitationPreview>(`${INVITATIONS}/preview`, { token }),
  signUpByInvitation: (person: { token: string; name: string; password: string }) =>
    post<{ workspaceId: string }>(`${INVITATIONS}/sign-up`, person),
  acceptInvitation: (token: string) => post<Workspace>(`${INVITATIONS}/accept`, { token }),
}

/** The log of changes in a workspace. */
export const workspaceAuditQuery = (id: string, filter: AuditFilter) =>
  queryOptions({
    queryKey: ['workspaces', 'audit', id, filter],
    queryFn: () => get<Static<typeof AuditPage>>(`${BASE}/${id}/audit?${searchOf({ ...filter })}`),
  })

/** The workspaces of the account, also deleted ones that it can restore. */
export const workspacesQuery = queryOptions({
  queryKey: ['workspaces'],
  queryFn: workspaces.list,
  staleTime: 60_000,
})

export const membersQuery = (id: string) =>
  queryOptions({ queryKey: ['workspaces', 'members', id], queryFn: () => workspaces.members(id) })

export const invitationsQuery = (id: string) =>
  queryOptions({
    queryKey: ['workspaces', 'invitations', id],
    queryFn: () => workspaces.invitations(id),
  })
