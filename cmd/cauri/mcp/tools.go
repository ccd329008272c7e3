package mcp

// allTools returns the tools, in the order in which they are listed: those that look, those that act, those that judge.
func allTools() []tool {
	return []tool{
		getStatus, listPayers, listTransactions, listEvents, listRequests, explainTool, diagnoseSignature, readDocs,
		makePayment, refundPayment, makePayout, answerPayer, saveTestClient, advanceClock, switchFault, resendEvent,
		checkExpectations, gradeReceiver, resetSandbox,
	}
}
