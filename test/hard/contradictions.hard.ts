import '../domains/contradictions.test.ts'
