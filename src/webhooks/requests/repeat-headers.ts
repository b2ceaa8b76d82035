/**
 * Headers in which senders name an event, the same in each of their attempts: Standard Webhooks,
 * Svix, GitHub, Shopify, the Idempotency-Key draft, and what this service forwards.
 */
export const REPEAT_HEADERS = [
  'webhook-id',
  'svix-id',
  'x-github-delivery',
  'x-shopify-webhook-id',
  'idempotency-key',
  'x-portreeve-request',
] as const
