import { defineCommand } from '../command.ts'

export const verifyProofCommand = defineCommand({
  name: 'verify-proof',
  summary: 'Verify the signed proof of a migration',
  description: [
    'It verifies the signature of the file, and that its sums and its verdict follow from its parts. It needs no service and no database.',
    'Whose signature it is, the file alone cannot say. Give the public key or its fingerprint with --key, or the URL of the service that made the proof with --server.',
  ],
  operands: [{ name: 'FILE', summary: 'the downloaded file', completes: 'file' }],
  flags: {
    key: { value: 'KEY', summary: 'public key of the service, or its fingerprint' },
    server: { value: 'URL', summary: 'service whose public key is used' },
  },
  examples: [
    {
      does: 'Verify a file with the key of the service that made it',
      command: 'portreeve verify-proof proof.jsonl --server https://portreeve.example.com',
    },
    {
      does: 'Verify it offline, with a fingerprint you wrote down',
      command: 'portreeve verify-proof proof.jsonl --key SHA256:W7Qr…',
    },
  ],
  exitCodes: {
    0: 'the file is as it was signed, by the key that was given',
    1: 'the file was changed or cut, or another key signed it, or no key was given to compare with',
  },
  async run({ operands: [file = ''], flags, json }) {
    return (await import('./run-verify-proof.ts')).verifyProof(file, flags, json)
  },
})
