import { RELAY_ENCRYPTED_COLUMNS } from './exchange/relays/relays.ts'
import { TWO_FACTOR_COLUMNS } from './accounts/two-factor/auth-encryption.ts'
import { CHANNEL_ENCRYPTED_COLUMNS } from './alerts/channels/encrypted-settings.ts'
import { MAILBOX_ENCRYPTED_COLUMNS } from './dmarc/mailboxes/fetch.ts'
import { CLIENT_ENCRYPTED_COLUMNS } from './mail-credentials/clients/clients.ts'
import { ENCRYPTED_COLUMNS as CREDENTIAL_COLUMNS } from './mail-credentials/access-tokens.ts'
import { CANARY_ENCRYPTED_COLUMNS } from './deliverability/canary/sign-ins.ts'
import { SNDS_ENCRYPTED_COLUMNS } from './deliverability/snds/snds-links.ts'
import { BATCH_ENCRYPTED_COLUMNS } from './migration/batches/passwords.ts'
import { ENCRYPTED_COLUMNS as MIGRATION_COLUMNS } from './migration/submit-migration.ts'
import type { EncryptedColumn } from './store/key-rotation.ts'
import { ENCRYPTED_COLUMNS as ENDPOINT_COLUMNS } from './webhooks/endpoints/endpoints.ts'
import { DESTINATION_COLUMNS } from './webhooks/forwarding/destination-settings.ts'

/** Every column that is encrypted with SECRET_KEY. */
export const ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  ...TWO_FACTOR_COLUMNS,
  ...CHANNEL_ENCRYPTED_COLUMNS,
  ...CREDENTIAL_COLUMNS,
  ...CLIENT_ENCRYPTED_COLUMNS,
  ...MAILBOX_ENCRYPTED_COLUMNS,
  ...CANARY_ENCRYPTED_COLUMNS,
  ...SNDS_ENCRYPTED_COLUMNS,
  ...MIGRATION_COLUMNS,
  ...BATCH_ENCRYPTED_COLUMNS,
  ...RELAY_ENCRYPTED_COLUMNS,
  ...ENDPOINT_COLUMNS,
  ...DESTINATION_COLUMNS,
]
