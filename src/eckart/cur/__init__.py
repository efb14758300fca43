from eckart.uncallable import refuse_calls

refuse_calls(__name__)
